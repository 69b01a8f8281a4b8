"""The programs that ship with GridPortal, described so that they can be registered as Applications.

Plain data, without numpy or MPI: the portal reads it on machines that run no program. In a command each
list item stays one argument; `{python}` is the nodes' interpreter, every other `{name}` a parameter.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Parameter(TypedDict):
    """One field of the form; `min` and `max` are inclusive and for numbers only."""

    name: str
    label: str
    type: Literal["choice", "int", "float", "text"]
    default: str | int | float
    help: str
    choices: NotRequired[list[str]]
    min: NotRequired[float]
    max: NotRequired[float]


class Limits(TypedDict):
    min: int
    max: int


class Program(TypedDict):
    """`ranks` lists the allowed numbers of ranks, or their limits; `phases` in the order they are told;
    `stop_means` of programs that can be stopped and go on elsewhere."""

    slug: str
    name: str
    description: str
    command: list[str]
    parameters: list[Parameter]
    pattern: str
    ranks: list[int] | Limits
    phases: list[str]
    stop_means: NotRequired[dict[str, str]]


def _class_parameter(sizes: str) -> Parameter:
    return {
        "name": "class",
        "label": "Problem class",
        "type": "choice",
        "choices": ["S", "W", "A", "B"],
        "default": "S",
        "help": sizes,
    }


def _whole(name: str, label: str, limits: tuple[int, int], default: int, explanation: str) -> Parameter:
    return {
        "name": name,
        "label": label,
        "type": "int",
        "min": limits[0],
        "max": limits[1],
        "default": default,
        "help": explanation,
    }


_BY_SRS = {"by": "srs"}
_DENSE: list[Parameter] = [
    _whole(
        "size",
        "Size",
        (1, 100_000),
        1_000,
        "Rows and columns of the matrix, 8 bytes an element; a size that the nodes have no memory for is refused.",
    ),
    _whole("block", "Block", (1, 512), 64, "Rows and columns of a block, and columns of a panel."),
]

PROGRAMS: list[Program] = [
    {
        "slug": "nas-cg",
        "name": "NAS CG",
        "description": (
            "Conjugate gradients, from the NAS Parallel Benchmarks: finds the smallest eigenvalue of a large "
            "sparse random matrix. Hundreds of short messages a second between a few pairs of ranks, so its "
            "speed depends on the bandwidth and latency between exactly those pairs. The eigenvalue is "
            "checked against the official one."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.cg", "--class", "{class}"],
        "parameters": [
            _class_parameter("Matrix of 1,400 rows (S), 7,000 (W), 14,000 (A) or 75,000 (B, minutes)."),
        ],
        "pattern": "cg",
        "ranks": [1, 2, 4, 8],
        "phases": ["makea", "init", "conj_grad"],
        "stop_means": _BY_SRS,
    },
    {
        "slug": "nas-ep",
        "name": "NAS EP",
        "description": (
            "Embarrassingly parallel, from the NAS Parallel Benchmarks: draws pairs of random numbers with "
            "normal distribution and counts them in rings. Ranks work alone and meet once, at the end, so "
            "only the speed of the slowest node matters. The sums are checked against the official ones."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.ep", "--class", "{class}"],
        "parameters": [
            _class_parameter("2^24 pairs (S), 2^25 (W), 2^28 (A) or 2^30 (B)."),
        ],
        "pattern": "ep",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "gaussian_pairs", "sum"],
    },
    {
        "slug": "heat-2d",
        "name": "Heat on a plate",
        "description": (
            "The heat equation on a rectangular plate with cold edges, by an explicit five-point stencil. The "
            "plate is cut into blocks, and each rank exchanges the edges of its block with up to four "
            "neighbours in every time step. Every point is checked against the exact result."
        ),
        "command": [
            "{python}",
            "-m",
            "gridportal.workloads.heat",
            "--rows",
            "{rows}",
            "--columns",
            "{columns}",
            "--steps",
            "{steps}",
        ],
        "parameters": [
            _whole("rows", "Rows", (64, 20_000), 512, "Points of the plate from top to bottom."),
            _whole("columns", "Columns", (64, 20_000), 512, "Points of the plate from left to right."),
            _whole("steps", "Steps", (1, 100_000), 1_000, "Time steps."),
        ],
        "pattern": "mesh-2d",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "steps", "verify"],
        "stop_means": _BY_SRS,
    },
    {
        "slug": "nas-is",
        "name": "NAS IS",
        "description": (
            "Integer sort, from the NAS Parallel Benchmarks: ranks integer keys by way of buckets. It hardly "
            "computes; in every iteration all keys travel between all pairs of ranks, so the slowest path "
            "between any two nodes decides. The ranks of test keys are checked against the official ones, and "
            "the sorted keys as a whole."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.is_sort", "--class", "{class}"],
        "parameters": [
            _class_parameter("2^16 keys (S), 2^20 (W), 2^23 (A) or 2^25 (B)."),
        ],
        "pattern": "is",
        "ranks": [1, 2, 4, 8, 16, 32, 64],
        "phases": ["init", "rank", "full_verify"],
    },
    {
        "slug": "nas-lu",
        "name": "NAS LU",
        "description": (
            "A flow problem by symmetric successive over-relaxation, from the NAS Parallel Benchmarks. Two "
            "waves run through a mesh of ranks in every step, with a small message per plane to each "
            "neighbour, so its speed depends on the latency between neighbours and on the slowest node. All "
            "norms are checked against the official ones."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.lu", "--class", "{class}"],
        "parameters": [
            {
                **_class_parameter("12^3 points (S), 33^3 (W, a minute) or 64^3 (A, many minutes)."),
                "choices": ["S", "W", "A"],
            },
        ],
        "pattern": "lu",
        "ranks": [1, 2, 4, 6, 8, 9, 12, 16],
        "phases": ["init", "lower", "upper", "rhs", "verify"],
    },
    {
        "slug": "nas-ft",
        "name": "NAS FT",
        "description": (
            "Three-dimensional fast Fourier transforms, from the NAS Parallel Benchmarks: solves a partial "
            "differential equation among its frequencies. Each transform sends the whole field between all "
            "pairs of ranks in a few long messages, so bandwidth decides, and the slowest path most. The "
            "checksum of every time step is checked against the official one."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.ft", "--class", "{class}"],
        "parameters": [
            _class_parameter("64 x 64 x 64 points (S), 128 x 128 x 32 (W), 256 x 256 x 128 (A), 512 x 256 x 256 (B)."),
        ],
        "pattern": "ft",
        "ranks": [1, 2, 4, 8, 16, 32],
        "phases": ["init", "forward_fft", "evolve", "inverse_fft"],
    },
    {
        "slug": "nas-bt",
        "name": "NAS BT",
        "description": (
            "A flow problem by alternating directions, from the NAS Parallel Benchmarks: block-tridiagonal "
            "systems along x, y and z in turn. Each of a square number of ranks owns cells all over the cube "
            "and passes long messages to its successors in three directions, so its speed depends on the "
            "bandwidth between exactly those ranks. All norms are checked against the official ones."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.bt", "--class", "{class}"],
        "parameters": [
            {
                **_class_parameter("12^3 points (S), 24^3 (W, a minute) or 64^3 (A, many minutes)."),
                "choices": ["S", "W", "A"],
            },
        ],
        "pattern": "bt",
        "ranks": [1, 4, 9, 16],
        "phases": ["init", "rhs", "x_solve", "y_solve", "z_solve", "verify"],
    },
    {
        "slug": "nas-mg",
        "name": "NAS MG",
        "description": (
            "Multigrid, from the NAS Parallel Benchmarks: solves Poisson's equation on a periodic cube by "
            "V-cycles over grids of falling resolution. Neighbours in a three-dimensional grid of ranks "
            "exchange faces, long ones on fine grids and many short ones on coarse grids, so bandwidth and "
            "latency between neighbours both count. The residual is checked against the official one."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.mg", "--class", "{class}"],
        "parameters": [
            _class_parameter("32^3 points (S), 128^3 (W), 256^3 (A) or 256^3 with 20 cycles (B)."),
        ],
        "pattern": "mg",
        "ranks": [1, 2, 4, 8, 16, 32, 64],
        "phases": ["init", "residual", "v_cycle"],
    },
    {
        "slug": "mri",
        "name": "Magnetic resonance imaging",
        "description": (
            "Pictures of a moving head from a scanner's raw data: rank 0 hands out slices one by one, the "
            "others remove ghosts, reconstruct and correct the motion. Whoever is ready gets the next slice, "
            "so the program adapts by itself to slow nodes and links. The motion found is checked against "
            "the true one, and the pictures against those of a single rank."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.mri", "--class", "{class}"],
        "parameters": [
            {
                **_class_parameter(
                    "128 slices of 64 x 64 points (S), 960 of 64 x 64 (W) or 1,280 of 128 x 128 (A, minutes)."
                ),
                "choices": ["S", "W", "A"],
            },
        ],
        "pattern": "star",
        "ranks": {"min": 1, "max": 64},
        "phases": ["scan", "references", "images"],
    },
    {
        "slug": "fft-2d",
        "name": "Two-dimensional FFT",
        "description": (
            "Fast Fourier transforms of a square complex field, one after the other: along the rows, an exchange "
            "between all pairs of ranks that transposes the field, along the columns. All ranks wait for the "
            "slowest node and the slowest path in every transform. Every value is checked against the exact one."
        ),
        "command": [
            "{python}",
            "-m",
            "gridportal.workloads.fft2d",
            "--size",
            "{size}",
            "--iterations",
            "{iterations}",
        ],
        "parameters": [
            _whole("size", "Size", (16, 16_384), 1_024, "Rows and columns of the field."),
            _whole("iterations", "Iterations", (1, 10_000), 20, "Transforms."),
        ],
        "pattern": "all-to-all",
        "ranks": {"min": 1, "max": 16},
        "phases": ["init", "row_ffts", "transpose", "column_ffts", "verify"],
    },
    {
        "slug": "airshed",
        "name": "Airshed",
        "description": (
            "The spread of smog over a city, hour by hour: input by one rank, transport by the wind, chemistry "
            "in every column of air, output to one rank, with all-to-all exchanges between. All ranks wait for "
            "each other after every phase, so one slow node or link holds up the whole. Nitrogen must be kept, "
            "and the result be that of a single rank."
        ),
        "command": ["{python}", "-m", "gridportal.workloads.airshed", "--class", "{class}"],
        "parameters": [
            {
                **_class_parameter("3 hours over 32 x 32 points (S), 6 over 64 x 64 (W), 8 over 128 x 128 (A)."),
                "choices": ["S", "W", "A"],
            },
        ],
        "pattern": "all-to-all",
        "ranks": {"min": 1, "max": 40},
        "phases": ["init", "input", "transport", "to_columns", "chemistry", "to_planes", "output"],
    },
    {
        "slug": "cactus",
        "name": "Scalar wave of two sources",
        "description": (
            "The scalar field of two orbiting sources in a box, by the wave equation, as the Cactus application of Set "
            "matching 2002. The box is cut along z: each rank has as many planes as its share says and exchanges one "
            "with the rank before and the one after it in every iteration, so fast nodes get more planes, and the "
            "order of nodes on a line counts. The energy of the field must be the work of the sources."
        ),
        "command": [
            *("{python}", "-m", "gridportal.workloads.cactus"),
            *("--x", "{x}", "--y", "{y}", "--z", "{z}"),
            *("--iterations", "{iterations}", "--shares", "{shares}"),
        ],
        "parameters": [
            _whole("x", "X", (2, 2_000), 64, "Points of the box along x."),
            _whole("y", "Y", (2, 2_000), 64, "Points of the box along y."),
            _whole("z", "Z", (2, 2_000), 128, "Points of the box along z, in which it is cut: ranks at most."),
            _whole("iterations", "Iterations", (1, 1_000_000), 100, "Time steps."),
        ],
        "pattern": "line",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "evolve", "verify"],
        "stop_means": _BY_SRS,
    },
    {
        "slug": "dense-qr",
        "name": "Dense QR",
        "description": (
            "A dense linear system by QR factorization, as PDGEQRF of ScaLAPACK: panel by panel, on a grid of ranks "
            "whose rows and columns exchange reflectors and sums. It can be stopped after any panel and goes on with "
            "another number of ranks. The residual of the solution is checked."
        ),
        "command": [
            "{python}",
            "-m",
            "gridportal.workloads.dense.qr",
            "--size",
            "{size}",
            "--block",
            "{block}",
        ],
        "parameters": _DENSE,
        "pattern": "rows-columns",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "panel", "solve", "verify"],
        "stop_means": _BY_SRS,
    },
    {
        "slug": "dense-lu",
        "name": "Dense LU",
        "description": (
            "A dense linear system by LU factorization with partial pivoting, as PDGETRF of ScaLAPACK: panel by panel, "
            "on a grid of ranks whose columns exchange rows and whose rows pass on panels. It can be stopped after any "
            "panel and goes on with another number of ranks. The residual of the solution is checked."
        ),
        "command": [
            "{python}",
            "-m",
            "gridportal.workloads.dense.lu_system",
            "--size",
            "{size}",
            "--block",
            "{block}",
        ],
        "parameters": _DENSE,
        "pattern": "rows-columns",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "panel", "solve", "verify"],
        "stop_means": _BY_SRS,
    },
    {
        "slug": "dense-eigenvalues",
        "name": "Dense eigenvalues",
        "description": (
            "All eigenvalues of a dense symmetric matrix: reduced panel by panel to a tridiagonal one, as PDSYTRD of "
            "ScaLAPACK, whose eigenvalues each rank finds a share of. Two sums over all ranks for each column, so "
            "latency counts. It can be stopped after any panel and goes on with another number of ranks. The "
            "eigenvalues are checked against the exact ones."
        ),
        "command": [
            "{python}",
            "-m",
            "gridportal.workloads.dense.eigenvalues",
            "--size",
            "{size}",
            "--block",
            "{block}",
        ],
        "parameters": _DENSE,
        "pattern": "all-to-all",
        "ranks": {"min": 1, "max": 64},
        "phases": ["init", "panel", "bisection", "verify"],
        "stop_means": _BY_SRS,
    },
]
