/** Types of the functions that we use; the package has none. */
declare module 'mime-types' {
  export function lookup(nameOrExtension: string): string | false;
  export function extension(type: string): string | false;
}
