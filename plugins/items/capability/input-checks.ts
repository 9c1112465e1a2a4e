import { BrokerRefusal } from '../../broker/library.ts';

export const createInvalidRequestRefusal = (reason: string): BrokerRefusal =>
  new BrokerRefusal('invalid_request', reason);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One step of a path: a field, `field:collection`, or a function of one field, without wildcards and dots. */
export const isPathStep = (text: string): boolean =>
  /^(?:[^.,()*$\s][^.,()*$]*|[a-z_]+\([^.,()*$\s][^.,()*$]*\))$/i.test(text);
