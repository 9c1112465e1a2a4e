import { isRuntimeParameter } from './compile/compilation-state.ts';
import type { AnswerSources, StatementSources } from './contract.ts';

let lookup: (() => AnswerSources | undefined) | undefined;

/** See `QueryEngine`. */
export function setAnswerSourcesLookup(find: () => AnswerSources | undefined): void {
  lookup = find;
}

/** The collector of the current request; undefined where no cache wants its answer. */
export const currentAnswerSources = (): AnswerSources | undefined => lookup?.();

/** What the answer of a statement depends on, by its tables and its parameters. */
export function createStatementSources(tables: ReadonlySet<string>, params: readonly unknown[]): StatementSources {
  const has = (name: string) =>
    params.some((param) => isRuntimeParameter(param) && param.runtimeValue.dynamic === name);
  return { tables, user: has('user'), role: has('role'), time: has('now') };
}
