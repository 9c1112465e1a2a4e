import type { Collection, Field } from '../schema/contract.ts';
import type { Pick } from './tree.ts';

/** The columns of the key, where rows have one. */
export const keyColumns = ({ key, hasKey }: Collection): readonly Field[] =>
  key && hasKey ? (key.parts ?? [key]) : [];

/** The keys of rows and nothing else of them. */
export const keyProjections = ({ key, hasKey }: Collection): readonly Pick[] =>
  key && hasKey ? [{ kind: 'column', key: key.name, field: key }] : [];
