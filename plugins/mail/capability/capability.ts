import { authorities, type Capability, Failure, fail } from '#kernel';
import type { ConfinedCodeHostMethod, RemoteCapabilityMethods } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { MailApi, MailService, PackageMailMessage } from '../contract.ts';
import { domainOf } from '../parse-addresses.ts';
import { parseMailMessage } from '../parse-message.ts';
import type { SendWindows } from '../send-windows.ts';
import { isGrantedDomain, listGrantedDomains, type MailGrant, mailGrantSchema, mailGrantWidens } from './grant.ts';

const HOUR = 3600;

const text = { type: 'string' } as const;

const send: ConfinedCodeHostMethod<MailApi> = {
  args: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to', 'subject'],
      properties: {
        to: { anyOf: [text, { type: 'array', minItems: 1, maxItems: 100, items: text }] },
        subject: text,
        html: text,
        text,
        replyTo: text,
      },
    },
  },
  target: ({ to }: PackageMailMessage) => `${Array.isArray(to) ? to.length : 1} recipients`,
  async call(api, { secrets }, message: PackageMailMessage) {
    if (secrets.mentionedIn(JSON.stringify(message)))
      throw new BrokerRefusal('denied', 'A secret cannot be part of a mail.');
    try {
      return await api.send(message);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'REQUESTS_EXCEEDED') throw error;
      throw new BrokerRefusal('rate_limited', error.message);
    }
  },
};

export const mailRemoteMethods: RemoteCapabilityMethods = { capability: 'mail', methods: { send } };

interface Deps {
  readonly mail: Pick<MailService, 'send'>;
  readonly windows: Pick<SendWindows, 'take'>;
}

/** `host.mail`: messages to granted domains, of granted number. The sender is always EMAIL_FROM. */
export const createMailCapability = ({ mail, windows }: Deps): Capability<MailGrant, MailApi> => ({
  name: 'mail',
  member: 'mail',
  schema: mailGrantSchema,
  bind(grant, { name, recordDenial }) {
    const domains = listGrantedDomains(grant);
    return {
      async send({ to, subject, html, text: plain, replyTo }) {
        const message = {
          ...{ to, subject },
          ...(html === undefined ? {} : { html }),
          ...(plain === undefined ? {} : { text: plain }),
          ...(replyTo === undefined ? {} : { replyTo }),
        };
        const { recipients } = await parseMailMessage(message);
        const other = recipients.map(domainOf).find((domain) => !isGrantedDomain(domains, domain));
        if (other !== undefined) {
          recordDenial(`send mail to ${other}`);
          throw fail('CAPABILITY_DENIED', `${name} may not send mail to ${other}`);
        }
        const limit = { points: grant.perHour, duration: HOUR };
        if (!(await windows.take(`package ${name}`, limit, recipients.length)))
          throw fail('REQUESTS_EXCEEDED', `${name} may send mail to ${grant.perHour} recipients an hour.`);
        return mail.send(message);
      },
    };
  },
  describe: (grant) =>
    authorities(
      'sends mail to',
      listGrantedDomains(grant).map((one) => (one === '*' ? 'any address' : one)),
      `at most ${grant.perHour} recipients an hour`,
    ),
  widens: mailGrantWidens,
});
