import { createClientKeyLookup } from './client-keys.ts';
import type { AddressLimits } from './contract.ts';
import type { StartedLimiters } from './limiters.ts';
import { ALL_REQUESTS, assertVerdict, isFailedAuthentication } from './middleware.ts';

interface Deps {
  /** The limiters; none before the start. */
  readonly limiters: () => StartedLimiters;
  /** Points that failed authentication costs besides. */
  readonly failedAuthenticationPoints: number;
}

/** The service `address-limits`: counts in the same windows as requests. */
export function createAddressLimits({ limiters, failedAuthenticationPoints }: Deps): AddressLimits {
  const keyOf = createClientKeyLookup();
  return {
    async count(client) {
      const { address, global } = limiters();
      if (!address) return;
      assertVerdict(await address.take(keyOf(client)));
      if (global) assertVerdict(await global.take(ALL_REQUESTS));
    },
    async chargeFailedAuthentication(client, error) {
      const { address } = limiters();
      if (address && failedAuthenticationPoints > 0 && isFailedAuthentication(error))
        await address.charge(keyOf(client), failedAuthenticationPoints);
    },
  };
}
