import type { GraphqlSubscription } from '../graphql/contract.ts';
import type { Delivery, RealtimeClient, RealtimeSubscription } from '../realtime/contract.ts';
import { ResponseQueue } from './response-queue.ts';
import { ResponseText } from './response-text.ts';

export interface SubscriptionOptions {
  /** The position to resume from, as an earlier response had it. */
  readonly since: string | undefined;
  /** Whether responses show their positions, in `extensions`. The first one has no row then. */
  readonly showsPositions: boolean;
  /** Called with the position at which the subscription begins, unless the first response shows it. */
  readonly onBegin?: (queue: ResponseQueue, position: string) => void;
  /** Called each time all responses are taken. */
  readonly onEmpty?: () => void;
  /** Called once: the subscription is over. */
  readonly onDone?: () => void;
}

/**
 * Subscribes a client, and returns the responses. The queue ends with a failure where the subscription ends by itself.
 * @throws what `RealtimeClient.subscribe` throws.
 */
export async function openSubscription(
  client: RealtimeClient,
  subscription: GraphqlSubscription,
  { since, showsPositions, onBegin, onEmpty, onDone }: SubscriptionOptions,
): Promise<ResponseQueue> {
  let opened: RealtimeSubscription | undefined;
  let isOver = false;
  const queue = new ResponseQueue({
    onDone() {
      isOver = true;
      opened?.end();
      onDone?.();
    },
    ...(onEmpty ? { onEmpty } : {}),
  });
  const { collection, event, selection } = subscription;
  opened = await client.subscribe({
    collection,
    event,
    selection,
    since,
    deliver(delivery, sequence) {
      const { position } = delivery;
      if (delivery.kind === 'init' && !showsPositions) {
        onBegin?.(queue, position);
        return;
      }
      const texts = renderDelivery(subscription, delivery);
      for (const [at, text] of texts.entries()) {
        const isLast = at === texts.length - 1;
        const shown = isLast && showsPositions ? withExtensions(text, { position, sequence }) : text;
        queue.push(new ResponseText(shown, isLast ? { position } : {}));
      }
    },
    onEnd: (failure) => queue.end(failure),
  });
  // It has ended while it was opened.
  if (isOver) opened.end();
  return queue;
}

/** The engine passes one object to all subscriptions with the same selection and rights. */
const renderedDeliveries = new WeakMap<Delivery, readonly string[]>();

/** One response for each row. */
function renderDelivery(subscription: GraphqlSubscription, delivery: Delivery): readonly string[] {
  const found = renderedDeliveries.get(delivery);
  if (found) return found;
  const texts = renderTexts(subscription, delivery);
  renderedDeliveries.set(delivery, texts);
  return texts;
}

function renderTexts(subscription: GraphqlSubscription, delivery: Delivery): readonly string[] {
  if (delivery.kind === 'change')
    return delivery.rows.map(({ key, text }) => subscription.renderResponse(delivery.event, key, text));
  return [subscription.renderEmptyResponse(delivery.kind === 'resync' ? RESYNC_ERROR : undefined)];
}

/** Changes were missed: the client has to read again what it shows. */
const RESYNC_ERROR = { message: 'Changes were missed: read the rows again.', extensions: { code: 'RESYNC' } };

/** Adds a member to the JSON text of an object that has members. */
const withExtensions = (text: string, extensions: object): string =>
  `${text.slice(0, -1)},"extensions":${JSON.stringify(extensions)}}`;
