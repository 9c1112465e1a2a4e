import { PERMISSIONS_CHANGED_CHANNEL } from '../../access/contract.ts';
import { USER_STATUS_CHANGED_CHANNEL } from '../../auth/contract.ts';
import type { InterProcessBus } from '../../cluster/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';

/** A number that grows whenever the rights of any caller, or the tables, may have changed. */
export interface RightsVersion {
  current(): number;
}

/** While the connection that listens is lost nothing is announced, so each question gets another number. */
export function createRightsVersion(
  bus: Pick<InterProcessBus, 'subscribe' | 'onLost' | 'onReconnect'>,
  schema: Pick<SchemaService, 'onChange'>,
): RightsVersion {
  let version = 1;
  let isLost = false;
  const grow = (): void => {
    version++;
  };
  for (const channel of [PERMISSIONS_CHANGED_CHANNEL, USER_STATUS_CHANGED_CHANNEL]) bus.subscribe(channel, grow);
  schema.onChange(grow);
  bus.onLost(() => {
    isLost = true;
  });
  bus.onReconnect(() => {
    isLost = false;
    grow();
  });
  return { current: () => (isLost ? ++version : version) };
}
