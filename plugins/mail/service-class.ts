import type { ServiceClass } from '../extensions-full/contract.ts';
import type { MailMessage, MailService } from './contract.ts';

/** `MailService` of code with full authority. Its messages have the sender of EMAIL_FROM. */
export const mailServiceClass = (mail: Pick<MailService, 'send'>): ServiceClass => ({
  name: 'MailService',
  methods: { send: (_caller, [message]) => mail.send(message as MailMessage) },
});
