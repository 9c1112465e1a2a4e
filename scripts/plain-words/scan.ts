import { REFUSED_NAME_PARTS, REFUSED_PHRASES, REFUSED_WHOLE_NAMES } from './words.ts';

export interface RefusedWordUse {
  readonly path: string;
  /** Line number, from 1. */
  readonly line: number;
  /** The word as written, or the identifier that contains it. */
  readonly found: string;
  readonly word: string;
  readonly instead: string;
}

/** Strings, comments and names of a source file: strings and comments are one alternative each, so that quotes in comments end nothing. */
const TOKEN =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|(?<name>[A-Za-z_$][\w$]*)/g;

const partsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_$.-]+/)
    .map((part) => part.toLowerCase());

/**
 * Finds refused words in an identifier. `isMember`: it follows a dot. A member is judged by its declaration, since
 * `expect(1).within(0, 2)` belongs to another library.
 */
function namesIn(path: string, line: number, name: string, isMember = false): readonly RefusedWordUse[] {
  const whole = isMember ? [] : REFUSED_WHOLE_NAMES.filter(({ pattern }) => pattern.test(name.toLowerCase()));
  const parts = partsOf(name).flatMap((part) =>
    REFUSED_NAME_PARTS.filter(({ pattern }) => pattern.test(part)).map((one) => ({ ...one, part })),
  );
  return [
    ...whole.map(({ instead }) => ({ path, line, found: name, word: name.toLowerCase(), instead })),
    ...parts.map(({ part, instead }) => ({ path, line, found: name, word: part, instead })),
  ];
}

const phrasesIn = (path: string, line: number, text: string): readonly RefusedWordUse[] =>
  REFUSED_PHRASES.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map((match) => ({
      path,
      line: line + (text.slice(0, match.index).match(/\n/g)?.length ?? 0),
      found: match[0],
      word: match[0].toLowerCase(),
      instead,
    })),
  );

/** Refused words of one file: names, comments and strings of code, the whole text of anything else. */
export function findRefusedWords(path: string, text: string): readonly RefusedWordUse[] {
  const fileName = (path.split('/').at(-1) ?? path).replace(/\..*$/, '');
  const ofPath = namesIn(path, 0, fileName);
  if (!/\.[cm]?[jt]s$/.test(path)) return [...ofPath, ...phrasesIn(path, 1, text)];
  let line = 1;
  let at = 0;
  const found: RefusedWordUse[] = [...ofPath];
  for (const match of text.matchAll(TOKEN)) {
    line += text.slice(at, match.index).match(/\n/g)?.length ?? 0;
    at = match.index;
    const { name, comment, string } = match.groups ?? {};
    found.push(
      ...(name === undefined
        ? phrasesIn(path, line, (comment ?? string) as string)
        : namesIn(path, line, name, text[match.index - 1] === '.')),
    );
  }
  return found;
}
