import type { Delivery } from '../contract.ts';

export type ChangeDelivery = Extract<Delivery, { kind: 'change' }>;

/**
 * Deliveries of changes that are read together. The last one alone has the position after them: a client that has got a part of them comes
 * back for the rest.
 */
export const toChangeDeliveries = (
  parts: readonly Pick<ChangeDelivery, 'event' | 'rows'>[],
  { before, after }: { readonly before: string; readonly after: string },
): readonly ChangeDelivery[] =>
  parts.map((part, at) => ({ kind: 'change', ...part, position: at < parts.length - 1 ? before : after }));
