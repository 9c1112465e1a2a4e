/** To be told of long bytes on their way out, as `Location.write` does for those on their way in: memory stays flat. */
export { passing } from './garbage.ts';
/** The variable that holds a location's setting, for what drivers say of it: `my-files` and `ROOT` make STORAGE_MY_FILES_ROOT. */
export { variableOf } from './settings.ts';
/** For what is worked on as a file of this machine. */
export { temporaryFile, temporaryFolder } from './temporary.ts';
/** `<name without extension>__`: what is made of an object lies beside it. */
export { variantPrefix } from './variant-prefix.ts';
