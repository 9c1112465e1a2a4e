import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `.ts` in a checkout; `.js` in the installed package, whose sources are compiled. */
const EXTENSION = extname(import.meta.url);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let source: Promise<string> | undefined;

/** Bundles the runner as one CommonJS text that imports modules of Node only. Built once per process. */
export function bundleChildRunnerSource(): Promise<string> {
  source ??= bundleRunner().catch((error) => {
    source = undefined;
    throw error;
  });
  return source;
}

async function bundleRunner(): Promise<string> {
  return bundle('main', 'cjs', { PRELUDE: JSON.stringify(await bundleGuestPreludeSource()) });
}

/**
 * The code that runs in the guest's realm before the artifact. The value of the script is a function of the limits and
 * of the globals to remove (`language-globals.ts`). It returns the entry point `enter` (`guest/index.ts`).
 */
export async function bundleGuestPreludeSource(): Promise<string> {
  const code = await bundle('guest/index', 'esm', {});
  const parts = /^([\s\S]*)export \{\s*(\w+) as default\s*\};\s*$/.exec(code);
  if (!parts) throw new Error('the prelude does not end in its one export');
  return `(function (LONGEST_CALL, LONGEST_RESULT, OTHER_GLOBALS) {\n'use strict';\n${parts[1]}\nreturn ${parts[2]};\n})`;
}

async function bundle(entry: string, format: 'cjs' | 'esm', define: Record<string, string>): Promise<string> {
  const result = await build({
    entryPoints: [here(`${entry}${EXTENSION}`)],
    bundle: true,
    write: false,
    format,
    platform: format === 'cjs' ? 'node' : 'neutral',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    define,
  });
  return (result.outputFiles[0] as { text: string }).text;
}
