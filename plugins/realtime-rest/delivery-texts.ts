import type { DeliveredRow, Delivery } from '../realtime/contract.ts';

/** What differs between the messages that clients get of one delivery. */
interface MessageShape {
  readonly uid: string | number | undefined;
  /** The subscription is to one row: `data` is the row itself. */
  readonly isItem: boolean;
  /** The client wants positions and sequence numbers. */
  readonly positions: boolean;
  readonly sequence: number;
}

/** Encoded messages of one delivery that are kept: clients count their subscriptions from 1, so most have one of few uids. */
const MAX_KEPT = 32;

/** Messages of deliveries (conventions, "Subscriptions"). A text is made once for all clients to which it goes unchanged. */
export class DeliveryTexts {
  readonly #heads = new WeakMap<Delivery, { head: string; messages: Map<string, Buffer> }>();

  render(delivery: Delivery, shape: MessageShape): string | Buffer {
    const tail = renderTail(delivery, shape);
    // What was read for one subscription alone is sent once.
    if (delivery.kind !== 'change') return `${renderBeginning(delivery)}${tail}`;
    let known = this.#heads.get(delivery);
    if (!known) {
      known = { head: renderChange(delivery, shape.isItem), messages: new Map() };
      this.#heads.set(delivery, known);
    }
    let message = known.messages.get(tail);
    if (!message) {
      message = Buffer.from(`${known.head}${tail}`);
      if (known.messages.size < MAX_KEPT) known.messages.set(tail, message);
    }
    return message;
  }
}

function renderBeginning({ kind, data, meta }: Exclude<Delivery, { kind: 'change' }>): string {
  const again = kind === 'resync' ? ',"resync":true' : '';
  const rows = data === undefined ? '' : `,"data":${data}`;
  return `{"type":"subscription","event":"init"${again}${rows}${meta === null ? '' : `,"meta":${meta}`}`;
}

function renderChange({ event, rows }: Extract<Delivery, { kind: 'change' }>, isItem: boolean): string {
  const texts = rows.map(({ text, json }: DeliveredRow) => text ?? json);
  return `{"type":"subscription","event":"${event}","data":${isItem ? texts[0] : `[${texts.join()}]`}`;
}

function renderTail({ position }: Delivery, { uid, positions, sequence }: MessageShape): string {
  const place = positions ? `,"position":${JSON.stringify(position)},"sequence":${sequence}` : '';
  return `${place}${uid === undefined ? '' : `,"uid":${JSON.stringify(uid)}`}}`;
}
