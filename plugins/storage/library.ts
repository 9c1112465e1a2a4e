/** For flat memory: counts streamed bytes (call it for responses; `Location.write` does so for uploads), and limits the growth of the heap. */
export { countBytesForGarbageCollection, createHeapGrowthLimit } from './heap-garbage-collection.ts';
/** The variable of a setting, for messages of drivers: `my-files` and `ROOT` make STORAGE_MY_FILES_ROOT. */
export { storageVariableOf } from './settings.ts';
/** Temporary files and folders. */
export { createTemporaryFilePath, createTemporaryFolder } from './temporary-files.ts';
/** `<name without extension>__`: the prefix of all variants of an object. */
export { variantPrefix } from './variant-prefix.ts';
