import type { HttpContext, RoutingService } from '../http/contract.ts';
import { createClientKeyLookup } from './client-keys.ts';
import type { ClientLimits } from './contract.ts';
import type { LimitersDeps, StartedLimiter } from './limiters.ts';
import { assertWithinLimit } from './middleware.ts';
import type { PointsStoreKind } from './settings.ts';

interface Deps extends LimitersDeps {
  readonly routing: Pick<RoutingService, 'clientAddressOf'>;
  readonly store: PointsStoreKind;
}

type Context = Parameters<typeof assertWithinLimit>[0];

/** The service `client-limits`. A limiter starts with its first request, since most services have no such route. */
export function createClientLimits({ routing, store, ...deps }: Deps): ClientLimits {
  const keyOf = createClientKeyLookup();
  return {
    define(name, limit) {
      let starting: Promise<StartedLimiter> | undefined;
      const start = async () => {
        // Loads rate-limiter-flexible.
        const { createLimiterStarter } = await import('./limiters.ts');
        return createLimiterStarter(deps)(name, { ...limit, store });
      };
      return {
        async assertWithinLimit(ctx: HttpContext) {
          starting ??= start();
          const limiter = await starting;
          const koaContext = ctx as unknown as Context;
          assertWithinLimit(koaContext, await limiter.take(keyOf(routing.clientAddressOf(koaContext))));
        },
      };
    },
  };
}
