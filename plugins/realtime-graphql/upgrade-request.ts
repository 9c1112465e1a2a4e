import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** What is kept of an upgrade request while its connection is open: the request itself costs some kilobytes. */
export interface UpgradeRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: IncomingMessage['socket'];
}

export const toUpgradeRequest = ({ url = '/', headers, socket }: IncomingMessage): UpgradeRequest => ({
  url,
  headers,
  socket,
});
