/**
 * `npm run pack`: the package that `npm install` takes, as `dist/tenon-<version>.tgz`. It has compiled sources, since Node removes no
 * types below `node_modules`, and declarations for authors of extensions. A second run does only what changed.
 */
import { statSync } from 'node:fs';
import { buildPackage } from './pack/build-package.ts';
import { OUTPUT_FOLDER } from './pack/folders.ts';
import { packFolder } from './pack/pack-folder.ts';

const built = await buildPackage(console.log);
console.log(`${built.files} files, ${inMegabytes(built.bytes)} in ${built.folder}`);
const archive = packFolder(built.folder, OUTPUT_FOLDER);
console.log(`${inMegabytes(statSync(archive).size)} in ${archive}`);

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
