import { dirname, relative } from 'node:path/posix';

const KERNEL_IMPORT =
  /\b(from\s*|import\s*\(\s*|import\.meta\.resolve\(\s*|declare\s+module\s+)(['"])#kernel(\/boot)?\2/g;
const SOURCE_URL = /(new URL\(\s*)(['"])(\.{1,2}\/[^'"]*)\.ts\2(\s*,\s*import\.meta\.url\s*\))/g;
const DECLARATION_IMPORT = /\b(from\s*|import\s*\(\s*|declare\s+module\s+)(['"])(\.{1,2}\/[^'"]+)\.ts\2/g;

/**
 * Replaces what the compiler leaves in a compiled file: `#kernel`, which is a link of the checkout, becomes the path of the kernel,
 * and URLs of sources become those of compiled files. `path` is that of the file in the package.
 */
export const rewriteCompiledFile = (path: string, text: string): string =>
  rewriteKernelImports(path, text).replace(SOURCE_URL, '$1$2$3.js$2$4');

/** The same for declarations, whose imports the compiler leaves with the ending of the sources. */
export const rewriteDeclarations = (path: string, text: string): string =>
  rewriteKernelImports(path, text).replace(DECLARATION_IMPORT, '$1$2$3.js$2');

function rewriteKernelImports(path: string, text: string): string {
  return text.replace(KERNEL_IMPORT, (_all, before: string, quote: string, boot: string | undefined) => {
    const target = relative(dirname(path), boot ? 'kernel/boot.js' : 'kernel/index.js');
    return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
  });
}

const IMPORTED = /\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g;

/** The names that a compiled file, or a declaration, imports. */
export const listImports = (text: string): readonly string[] =>
  [...text.matchAll(IMPORTED)].map(([, , specifier]) => specifier as string);
