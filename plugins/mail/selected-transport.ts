import { findTransport } from './config.ts';
import type { MailTransport, MailTransportDeclaration } from './contract.ts';

/** The transport that EMAIL_TRANSPORT names. */
export interface SelectedTransport {
  /** The opened transport. @throws an Error before the start. */
  current(): MailTransport;
  /** `MailService.isConfigured`. */
  isConfigured(): boolean;
  /** @throws BootFailure for an unknown transport, and for settings that it refuses. */
  open(known: ReadonlyMap<string, MailTransportDeclaration>): Promise<void>;
  close(): Promise<void>;
}

export function createSelectedTransport(name: string | undefined): SelectedTransport {
  let opened: MailTransport | undefined;
  let isConfigured = false;
  return {
    current() {
      if (opened) return opened;
      throw new Error('the mail transport is not open');
    },
    isConfigured: () => isConfigured,
    async open(known) {
      const declaration = findTransport(name, known);
      opened = declaration.open();
      isConfigured = name !== undefined || ((await declaration.isPresent?.()) ?? true);
    },
    async close() {
      const closing = opened;
      opened = undefined;
      await closing?.close?.();
    },
  };
}
