/** `npm run check`: types, lint and format, plain words, architecture. All of them run, also after one has failed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const steps: readonly (readonly [what: string, command: string, ...args: string[]])[] = [
  ['types', 'node_modules/.bin/tsc', '--noEmit'],
  ['lint and format', 'node_modules/.bin/biome', 'check', '.'],
  ['plain words', process.execPath, 'scripts/plain-words.ts'],
  [
    'architecture',
    process.execPath,
    'node_modules/mocha/bin/mocha.js',
    '--reporter=dot',
    'test/architecture/*.test.ts',
  ],
];

const failed = steps.filter(([what, command, ...args]) => {
  console.log(`— ${what}`);
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status !== 0;
});

if (failed.length > 0) {
  console.error(`not in order: ${failed.map(([what]) => what).join(', ')}`);
  process.exitCode = 1;
} else {
  console.log('all in order');
}
