import { BootFailure, capabilities, definePlugin } from '#kernel';
import { remoteMethods } from '../broker/contract.ts';
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts';
import { AddressListError } from './address-ranges.ts';
import { requestCapability, requestRemoteMethods } from './capability/capability.ts';
import { outbound } from './contract.ts';
import { createHostResolver } from './host-resolver.ts';
import manifest from './package.json' with { type: 'json' };
import { createOutbound } from './service.ts';

interface OutboundConfig {
  IMPORT_IP_DENY_LIST: readonly string[];
  IMPORT_IP_ALLOW_LIST: readonly string[];
}

export default definePlugin<OutboundConfig>({
  manifest,
  register(host) {
    const service = createOutbound({ policy: createConfiguredPolicy(host.config), resolve: createHostResolver() });
    host.provide(outbound, service);
    host.contribute(capabilities, requestCapability(service));
    host.contribute(remoteMethods, requestRemoteMethods);
  },
});

/** An invalid list stops the start, since ignoring it would deny too little. */
function createConfiguredPolicy({ IMPORT_IP_DENY_LIST, IMPORT_IP_ALLOW_LIST }: OutboundConfig): AddressPolicy {
  try {
    return createAddressPolicy(IMPORT_IP_DENY_LIST, IMPORT_IP_ALLOW_LIST);
  } catch (error) {
    if (!(error instanceof AddressListError)) throw error;
    throw new BootFailure('@tenon/outbound', 'config', error.message, {
      remedy: 'correct IMPORT_IP_DENY_LIST or IMPORT_IP_ALLOW_LIST: addresses and ranges, separated by commas',
    });
  }
}
