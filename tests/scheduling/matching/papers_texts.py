"""What Set matching 2002 prints, word for word."""

from __future__ import annotations

#: Section 3.2, without the numbers of the lines.
CACTUS_REQUEST = """
[
Service = "InstantService";
MatchType="SET";
iter=100; alpha=100; x=100; y=100; z=100;
cactus=370; cactusC=254; startup=30;
computetime = x*y*alpha/other.cpuspeed*cactus;
comtime= ( other.RLatency+ y*x*cactusC/other.RBandwidth
          +other.LLatency+y*x*cactusC/other.Lbandwidth);
exectime=(computetime+comtime)*iter+startup;
Mapper = [type ="dll"; libraryname="cactus"; function="mapper"];
requirements = Sum(other.MemorySize) >= (1.757 + 0.0000138*z*x*y)
               && Postfix(other.machine, domains);
domains={ cs.utk.edu, ucsd.edu};
rank=Min(1/exectime)
]
"""

#: The same with them, as it is printed.
CACTUS_LISTING = """1.
       [
2.
      Service = "InstantService";
3.
      MatchType="SET";
      iter=100; alpha=100; x=100; y=100; z=100;
4.
5.
      cactus=370; cactusC=254; startup=30;
6.
      computetime = x*y*alpha/other.cpuspeed*cactus;
7.
       comtime= ( other.RLatency+ y*x*cactusC/other.RBandwidth
                 +other.LLatency+y*x*cactusC/other.Lbandwidth);
8.
      exectime=(computetime+comtime)*iter+startup;
9.
      Mapper = [type ="dll"; libraryname="cactus"; function="mapper"];
      requirements = Sum(other.MemorySize) >= (1.757 + 0.0000138*z*x*y)
10.
                     && Postfix(other.machine, domains);
11.
      domains={ cs.utk.edu, ucsd.edu};
      rank=Min(1/exectime)
12.
13.
      ]
"""

#: Sections 2.1 to 2.3.
CLAUSES = (
    "other.size > 3",
    "Sum(other.memory)>5G",
    "1/Max(execution-time)",
    'Postfix(H, {"ucsd.edu", "utk.edu"})',
    "other.os==redhat6.1 && other.memory>=100M",
)
