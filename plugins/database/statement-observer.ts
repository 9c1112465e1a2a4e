/** A statement that a plugin is about to run. `plain`: text that the `sql` grant allows. */
export interface ObservedStatement {
  readonly plugin: string;
  readonly kind: 'query' | 'ddl' | 'plain';
  /** The text that the grant has to allow: without the texts that other plugins created by `raw`. */
  readonly text: string;
}

let observer: ((statement: ObservedStatement) => void) | undefined;

/**
 * For test runs: calls `observe` with every statement of every plugin of this process, before it runs. One observer at
 * a time.
 */
export function observeStatements(observe: ((statement: ObservedStatement) => void) | undefined): void {
  observer = observe;
}

export const callStatementObserver = (plugin: string, kind: ObservedStatement['kind'], text: string): void =>
  observer?.({ plugin, kind, text });
