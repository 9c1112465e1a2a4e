/**
 * `npm run words [-- <path> …]`: refuses words of the house's former dialect in names, comments, titles, messages and documents
 * (docs/glossary.md says what to write). `--count` prints how often each stands.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REFUSED_WORD_EXEMPTIONS } from './plain-words/exceptions.ts';
import { findRefusedWords } from './plain-words/scan.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const FOLDERS = '{kernel,plugins,sandbox,extensions,scripts,test,docs}/**/*.{ts,js,mjs,cjs,jsx,md}';
const isThirdParty = (path: string): boolean => /(?:^|\/)node_modules(?:\/|$)|^extensions\/local(?:\/|$)/.test(path);
const files = globSync([FOLDERS, '*.md', 'scripts/node', '.ci/run'], {
  cwd: root,
  exclude: (path) => isThirdParty(path.replaceAll('\\', '/')),
})
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !isThirdParty(path))
  .filter(
    (path) => paths.length === 0 || paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`)),
  )
  .sort();

const used = new Set<(typeof REFUSED_WORD_EXEMPTIONS)[number]>();
const findings = files.flatMap((path) => {
  const text = readFileSync(`${root}/${path}`, 'utf8');
  return findRefusedWords(path, text).filter((finding) => {
    const exception = REFUSED_WORD_EXEMPTIONS.find(
      ({ path: where, word }) =>
        (where.endsWith('/') ? path.startsWith(where) : path === where) && word.test(finding.word),
    );
    if (exception) used.add(exception);
    return !exception;
  });
});

if (process.argv.includes('--count')) {
  const counts = new Map<string, number>();
  for (const { word } of findings) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const [word, count] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`${count}\t${word}`);
} else {
  for (const { path, line, found, instead } of findings) console.log(`${path}:${line}: "${found}": write ${instead}`);
}
const idle = paths.length > 0 ? [] : REFUSED_WORD_EXEMPTIONS.filter((exception) => !used.has(exception));
for (const { path, word } of idle) console.log(`exception for ${word} in ${path} is not needed any more`);
console.log(`${findings.length} refused words`);
if (findings.length + idle.length > 0) process.exitCode = 1;
