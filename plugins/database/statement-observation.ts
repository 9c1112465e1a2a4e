import { type CurrentObserver, observeStream } from '../telemetry/library.ts';

/** Passes the statements of one plugin through the observers of the facet `database.observers`, where there are any. */
export interface StatementObservation {
  observed<T>(text: string, work: () => Promise<T>): Promise<T>;
  observedStream<T>(text: string, rows: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined>;
}

export function createStatementObservation(observer: CurrentObserver, owner: string): StatementObservation {
  const operationOf = (text: string) => ({ kind: 'statement', owner, name: commandOf(text), text }) as const;
  return {
    observed: (text, work) => (observer.current ? observer.current.run(operationOf(text), work) : work()),
    observedStream: (text, rows) =>
      observer.current ? observeStream(observer.current, operationOf(text), rows) : rows,
  };
}

const COMMAND = /^\s*([a-z]{1,20})/i;

/** The first word of a statement in capitals, such as `SELECT` or `WITH`; `SQL` where it begins with something else. */
const commandOf = (text: string): string => COMMAND.exec(text)?.[1]?.toUpperCase() ?? 'SQL';
