import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where `npm run pack` writes; not part of the repository. */
export const OUTPUT_FOLDER = `${ROOT}dist/`;

/** The package as it is installed. It also runs where it lies, with the dependencies of the checkout. */
export const PACKAGE_FOLDER = `${OUTPUT_FOLDER}package/`;

/** Contents of a package's files by path, with slashes. */
export type PackageFiles = Map<string, string | Uint8Array>;
