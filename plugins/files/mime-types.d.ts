/** The parts we use of a package without types. */
declare module 'mime-types' {
  export function lookup(nameOrExtension: string): string | false;
  export function extension(type: string): string | false;
}
