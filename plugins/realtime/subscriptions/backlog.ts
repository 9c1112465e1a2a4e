import type { DeliveredRow, RowEvent } from '../contract.ts';
import { type ChangeDelivery, toChangeDeliveries } from '../groups/change-deliveries.ts';

/** Bytes that one subscription holds back for a slow client; beyond, the client reads again. */
const MAX_BYTES = 1_048_576;
const BYTES_PER_ROW = 150;

/** What a slow client has not got yet: the latest state of each changed row. */
export class Backlog {
  /** Undefined while the client is ready, as nearly all are: an empty map takes memory of each subscription. */
  #rows: Map<string, { event: RowEvent; row: DeliveredRow }> | undefined;
  #bytes = 0;
  #position = '';

  get isEmpty(): boolean {
    return this.#rows === undefined;
  }

  /** False where there is no room: what was kept is forgotten. */
  add(delivery: ChangeDelivery): boolean {
    this.#position = delivery.position;
    for (const row of delivery.rows) this.#addRow(delivery.event, row);
    if (this.#bytes <= MAX_BYTES) return true;
    this.clear();
    return false;
  }

  clear(): void {
    this.#rows = undefined;
    this.#bytes = 0;
  }

  /** Empties the backlog: deletes, then creates, then updates. A row is in one of them only. `before` is the position that the client has. */
  take(before: string): readonly ChangeDelivery[] {
    const after = this.#position;
    const rows = [...(this.#rows?.values() ?? [])];
    this.clear();
    const parts = (['delete', 'create', 'update'] as const).flatMap((event) => {
      const some = rows.filter((one) => one.event === event).map(({ row }) => row);
      return some.length === 0 ? [] : [{ event, rows: some }];
    });
    return toChangeDeliveries(parts, { before, after });
  }

  #addRow(event: RowEvent, row: DeliveredRow): void {
    this.#rows ??= new Map();
    const known = this.#rows.get(row.key);
    if (known) this.#bytes -= sizeOf(known.row);
    this.#rows.delete(row.key);
    this.#rows.set(row.key, { event: mergeEvents(known?.event, event), row });
    this.#bytes += sizeOf(row);
  }
}

const sizeOf = ({ key, text }: DeliveredRow): number => key.length + (text?.length ?? 0) + BYTES_PER_ROW;

/** The event for a client that has seen neither: a row that was deleted and created again has changed. */
function mergeEvents(before: RowEvent | undefined, event: RowEvent): RowEvent {
  if (before === 'create' && event === 'update') return 'create';
  if (before === 'delete' && event === 'create') return 'update';
  return event;
}
