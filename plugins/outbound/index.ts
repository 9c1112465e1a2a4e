import { BootFailure, capabilities, definePlugin } from '#kernel';
import { remoteMethods } from '../broker/contract.ts';
import { followObserver } from '../telemetry/library.ts';
import { createOutboundAddressPolicy, type OutboundAddressPolicy } from './address-policy.ts';
import { InvalidIpRangeError } from './address-ranges.ts';
import { createRequestCapability, requestCapabilityRemoteMethods } from './capability/capability.ts';
import { outbound, outboundObservers } from './contract.ts';
import { createHostResolver } from './host-resolver.ts';
import manifest from './package.json' with { type: 'json' };
import { createOutboundService } from './service.ts';

interface OutboundConfig {
  IMPORT_IP_DENY_LIST: readonly string[];
  IMPORT_IP_ALLOW_LIST: readonly string[];
}

export default definePlugin<OutboundConfig>({
  manifest,
  register(host) {
    const service = createOutboundService({
      policy: createConfiguredPolicy(host.config),
      resolve: createHostResolver(),
      observer: followObserver(host, outboundObservers),
    });
    host.provide(outbound, service);
    host.contribute(capabilities, createRequestCapability(service));
    host.contribute(remoteMethods, requestCapabilityRemoteMethods);
  },
});

/** An invalid list stops the start, since ignoring it would deny too little. */
function createConfiguredPolicy({ IMPORT_IP_DENY_LIST, IMPORT_IP_ALLOW_LIST }: OutboundConfig): OutboundAddressPolicy {
  try {
    return createOutboundAddressPolicy(IMPORT_IP_DENY_LIST, IMPORT_IP_ALLOW_LIST);
  } catch (error) {
    if (!(error instanceof InvalidIpRangeError)) throw error;
    throw new BootFailure('@tenon/outbound', 'config', error.message, {
      remedy: 'correct IMPORT_IP_DENY_LIST or IMPORT_IP_ALLOW_LIST: addresses and ranges, separated by commas',
    });
  }
}
