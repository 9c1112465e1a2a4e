import { extname } from 'node:path';

/** The beginning of the names of everything made of the object of this name, which is removed together with it. */
export const variantPrefix = (object: string): string => `${object.slice(0, object.length - extname(object).length)}__`;
