import type { RouteDescription } from '../../http/contract.ts';
import { ANY_VALUE_SCHEMA, describeJsonBody, describeParameter } from '../../http/library.ts';

const base = {
  tag: 'flows',
  access: 'public',
  params: { id: describeParameter('Id of the flow.') },
  // What the flow returns, without an envelope; nothing for a flow that returns nothing or runs in the background.
  answers: { 200: { 'application/json': ANY_VALUE_SCHEMA }, 204: {} },
  errors: ['FORBIDDEN', 'ROUTE_NOT_FOUND'],
} as const;

/** It describes no query parameters: a flow may read any. */
export const TRIGGER_BY_GET_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Triggers a webhook flow whose method is GET; its query parameters are data of the flow.',
};

export const TRIGGER_BY_POST_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Triggers a webhook flow whose method is POST, or a manual flow; the body is data of the flow.',
  body: { ...describeJsonBody(ANY_VALUE_SCHEMA), required: false },
};
