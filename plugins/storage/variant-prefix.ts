import { extname } from 'node:path';

/** The prefix of the names of all variants of an object, which are removed together with it. */
export const variantPrefix = (object: string): string => `${object.slice(0, object.length - extname(object).length)}__`;
