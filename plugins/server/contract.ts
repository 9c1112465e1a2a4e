import { authorities, facet } from '#kernel';

/** `warn`: the component works, but slower than its threshold, or by other means. */
export type HealthCheckStatus = 'ok' | 'warn' | 'error';

/** One component of the service that `GET /server/health` checks. */
export interface HealthCheck {
  /** Name of the check in the answer, for example `pg:responseTime`. */
  readonly name: string;
  /** Kind of component, for example `datastore`. */
  readonly componentType: string;
  /** Milliseconds above which a working component counts as slow. */
  readonly threshold?: number;
  /**
   * Resolves with the observed value (milliseconds unless `unit` says otherwise); a rejection means that the component fails.
   * `output` is the reason of a status that is not `ok`, for admins.
   */
  check(): Promise<{ value: number; unit?: string; status?: HealthCheckStatus; output?: string }>;
}

/**
 * Health checks behind `GET /server/health`, in plugin order. Plugins of lower floors name this facet by its id, with `"health":
 * {"optional": true}` in their manifests.
 */
export const health = facet<HealthCheck>('health', {
  describe: () => authorities('contributes to', ['the health check']),
});
