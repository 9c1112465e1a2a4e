import { errorEnvelope } from '#kernel';
import type { GraphqlSubscription } from '../graphql/contract.ts';
import type { Delivery, RealtimeClient, RealtimeSubscription } from '../realtime/contract.ts';
import type { DocumentChecks } from './document-checks.ts';
import { ResponseQueue } from './response-queue.ts';
import { ResponseText } from './response-text.ts';

export interface SubscriptionOptions {
  readonly checks: Pick<DocumentChecks, 'add'>;
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
  { checks, since, showsPositions, onBegin, onEmpty, onDone }: SubscriptionOptions,
): Promise<ResponseQueue> {
  let opened: RealtimeSubscription | undefined;
  let isOver = false;
  let removeCheck = () => {};
  const queue = new ResponseQueue({
    onDone() {
      isOver = true;
      removeCheck();
      opened?.end();
      onDone?.();
    },
    ...(onEmpty ? { onEmpty } : {}),
  });

  async function push(delivery: Delivery, sequence: number): Promise<void> {
    const { position } = delivery;
    if (delivery.kind === 'init' && !showsPositions) return onBegin?.(queue, position);
    const texts = await renderDelivery(client, subscription, delivery);
    for (const [at, text] of texts.entries()) {
      const isLast = at === texts.length - 1;
      const shown = isLast && showsPositions ? withExtensions(text, { position, sequence }) : text;
      queue.push(new ResponseText(shown, isLast ? { position } : {}));
    }
  }

  /** Responses are in the order of deliveries. */
  let rendering = Promise.resolve();
  opened = await client.subscribe({
    ...{ collection: subscription.collection, event: subscription.event, selection: subscription.selection, since },
    deliver(delivery, sequence) {
      const release = queue.hold();
      rendering = rendering
        .then(() => push(delivery, sequence))
        .catch((error: unknown) => queue.end(error))
        .finally(release);
    },
    onEnd: (failure) => queue.end(failure),
  });
  // It has ended while it was opened.
  if (isOver) opened.end();
  else
    removeCheck = checks.add(async () => {
      await renew(client, subscription).catch((error: unknown) => queue.end(error));
    });
  return queue;
}

/** The engine passes one object to all subscriptions with the same selection and rights. */
const renderedDeliveries = new WeakMap<Delivery, Promise<readonly string[]>>();

/** One response for each row. @throws document failures where the rights of the caller have changed */
function renderDelivery(
  client: RealtimeClient,
  subscription: GraphqlSubscription,
  delivery: Delivery,
): Promise<readonly string[]> {
  let rendered = renderedDeliveries.get(delivery);
  if (!rendered) {
    rendered = renderTexts(client, subscription, delivery);
    renderedDeliveries.set(delivery, rendered);
  }
  return rendered;
}

async function renderTexts(
  client: RealtimeClient,
  subscription: GraphqlSubscription,
  delivery: Delivery,
): Promise<readonly string[]> {
  const { renderResponse, renderEmptyResponse } = await renew(client, subscription);
  if (delivery.kind === 'change')
    return delivery.rows.map(({ key, text }) => renderResponse(delivery.event, key, text));
  return [renderEmptyResponse(delivery.kind === 'resync' ? RESYNC_ERROR : undefined)];
}

/**
 * The subscription for the rights of this moment. Where they are not known the row, which was read with them, is rendered as before: all
 * subscriptions with equal rights get the result, so that no other client may suffer from the credentials of this one.
 */
async function renew(client: RealtimeClient, subscription: GraphqlSubscription): Promise<GraphqlSubscription> {
  try {
    return await subscription.renew(await client.caller());
  } catch (error) {
    if (errorEnvelope(error, NO_ADMIN).status === 400) throw error;
    return subscription;
  }
}

const NO_ADMIN = { admin: false };

/** Changes were missed: the client has to read again what it shows. */
const RESYNC_ERROR = { message: 'Changes were missed: read the rows again.', extensions: { code: 'RESYNC' } };

/** Adds a member to the JSON text of an object that has members. */
const withExtensions = (text: string, extensions: object): string =>
  `${text.slice(0, -1)},"extensions":${JSON.stringify(extensions)}}`;
