/* The parts of a script by kind: comments, lines #SBATCH, strings, variables, numbers, and words of the language. For
   colours only: nothing is decided by it, and what it does not know stays plain. */

const DIRECTIVE = "(?<directive>^#(?:SBATCH\\b|!)[^\\n]*)";
const NUMBER = "(?<number>\\b\\d[\\w.]*)";

const SHELL = {
  label: "Shell script",
  pattern: [
    DIRECTIVE,
    "(?<comment>(?<![^\\s;])#[^\\n]*)",
    "(?<string>'[^']*'|'[^\\n]*|\"(?:\\\\[^]|[^\"\\\\])*\"|\"[^\\n]*)",
    "(?<variable>\\$(?:\\{[^}\\n]*\\}?|\\w+|[@*#?$!-]))",
    words("if then else elif fi for while until do done case esac in function select time return exit"),
    words("export local readonly unset set source module srun mpiexec mpirun cd echo"),
    NUMBER,
  ],
};

/* A string that nobody ends goes to the end of the text if it began with three quotes, else to the end of its line. */
const LONG = ['"""', "'''"].map((quotes) => `${quotes}[^]*?(?:${quotes}|$(?![^]))`);
const SHORT = ['"', "'"].map((quote) => `${quote}(?:\\\\[^]|[^${quote}\\\\\\n])*${quote}?`);

const PYTHON = {
  label: "Python",
  pattern: [
    DIRECTIVE,
    "(?<comment>#[^\\n]*)",
    `(?<string>(?:\\b[rbfuRBFU]{1,2})?(?:${[...LONG, ...SHORT].join("|")}))`,
    "(?<variable>^[ \\t]*@[\\w.]+)",
    words("and as assert async await break class continue def del elif else except finally for from global if import"),
    words("in is lambda nonlocal not or pass raise return try while with yield match case None True False self"),
    NUMBER,
  ],
};

for (const language of [SHELL, PYTHON]) language.pattern = new RegExp(language.pattern.join("|"), "gm");

function words(text) {
  return `(?<![\\w.$/-])(?:${text.replaceAll(" ", "|")})(?![\\w/=-])`;
}

/* By its first line; without one by how it is started, or by what only Python has. */
export function languageOf(text, kind) {
  const first = /^#!.*/.exec(text)?.[0] ?? "";
  if (/python/.test(first)) return PYTHON;
  if (/sh\b/.test(first) || kind === "batch") return SHELL;
  return kind === "python" || /^(?:import \w|from [\w.]+ import |def \w+\()/m.test(text) ? PYTHON : SHELL;
}

/* Pairs of kind and text, one after the other the whole text; the kind is "" where it is none. */
export function tokens(text, language) {
  const found = [];
  let end = 0;
  for (const match of text.matchAll(language.pattern)) {
    if (!match[0]) continue;
    if (match.index > end) found.push(["", text.slice(end, match.index)]);
    const kind = Object.entries(match.groups).find(([, part]) => part !== undefined)?.[0] ?? "word";
    found.push([kind, match[0]]);
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push(["", text.slice(end)]);
  return found;
}
