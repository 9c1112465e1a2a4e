/**
 * What our code in the guest's realm uses at run time, taken before any foreign code runs. The guest may replace or
 * poison every built-in afterwards; none of these names leads to what it put there. Rules for all files here:
 * - nothing is called as a method of a value the guest may have seen, nothing is looked up on a prototype;
 * - tables and records are made by literals with `__proto__: null`, and nothing is assigned to an index of an array;
 * - `await` and literals are safe (they use what the engine holds, not what the guest sees); spread and for-of are not.
 */
export const { stringify, parse } = JSON;
export const { apply, deleteProperty } = Reflect;
export const { freeze, keys, hasOwn, defineProperty } = Object;
export const { isArray } = Array;
export const PromiseOf = Promise;
export const Range = RangeError;
export const Type = TypeError;
export const ErrorOf = Error;
export const { slice } = String.prototype;

export type Table<T> = { [key: number]: T };
export const table = <T>(): Table<T> => ({ __proto__: null }) as unknown as Table<T>;

/** Own property of an object or function, else undefined. May run a getter of the guest. */
export const own = (object: object, key: string): unknown =>
  hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
