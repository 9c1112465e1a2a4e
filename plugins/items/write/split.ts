import type { Collection, Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';

/** A payload taken apart by where each value goes. */
export interface Parts {
  /** Columns of the row itself. */
  readonly own: Payload;
  /** Many-to-one fields that came as objects: written first, since the row needs their keys. */
  readonly ones: readonly { field: Field; value: Payload }[];
  /** To-many aliases: written last, since their rows need this row's key. */
  readonly manys: readonly { field: Field; value: unknown }[];
}

export function split(collection: Collection, payload: Payload): Parts {
  const own: Payload = {};
  const ones: { field: Field; value: Payload }[] = [];
  const manys: { field: Field; value: unknown }[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const field = collection.fields.get(name);
    if (!field) continue;
    if (field.relation?.kind === 'many') manys.push({ field, value });
    else if (!field.column || field.column.generated) continue;
    else if (field.relation?.kind === 'one' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      ones.push({ field, value: value as Payload });
    } else own[name] = value;
  }
  return { own, ones, manys };
}
