import type { RouteDescription } from '../../http/contract.ts';

/** A route of the service, or an operation of an extension, which may have other methods. */
export interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
  readonly description: RouteDescription;
}
