import type { Collection, Field } from '../schema/contract.ts';
import type { Projection } from './tree.ts';

/** The columns of the key of a collection; empty for a collection without a key. */
export const keyColumns = ({ key, hasKey }: Collection): readonly Field[] =>
  key && hasKey ? (key.parts ?? [key]) : [];

/** Projections of a read that answers only keys. */
export const keyProjections = ({ key, hasKey }: Collection): readonly Projection[] =>
  key && hasKey ? [{ kind: 'column', key: key.name, field: key }] : [];
