/** Places where a refused word is right: by path (a folder ends with `/`), with the reason. One that is not needed fails the check. */
export interface Exception {
  readonly path: string;
  readonly word: RegExp;
  readonly reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  { path: 'scripts/plain-words/', word: /./, reason: 'the list of refused words itself' },
  { path: 'docs/glossary.md', word: /./, reason: 'the glossary names the words it replaces' },
];
