import { fail, type Log } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { MailMessage, MailService } from '../../mail/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import type { RunAsOperation } from './operation-callers.ts';
import { listOption, textOption } from './option-values.ts';

interface Deps {
  readonly mail: Pick<MailService, 'send'>;
  readonly items: Pick<ItemsEngine, 'createMany'>;
  readonly runAs: RunAsOperation;
  readonly log: Log;
}

type Options = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const addressesOf = (value: unknown): readonly string[] | undefined => {
  const all = listOption(value).map(String);
  return all.length === 0 ? undefined : all;
};

/** HTML of Markdown; HTML in it is shown as text, since values of rows may be part of it. Loads the library on first use. */
async function renderMarkdown(text: string): Promise<string> {
  const { default: MarkdownIt } = await import('markdown-it');
  return new MarkdownIt({ html: false, linkify: true, breaks: true }).render(text);
}

async function contentOf(options: Options): Promise<Pick<MailMessage, 'html' | 'template'>> {
  const { type = 'markdown', body, template, data } = options;
  if (type === 'template')
    return {
      template: { name: template ? textOption(template, 'template') : 'base', data: isObject(data) ? data : {} },
    };
  const text = body === undefined || body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  if (type === 'wysiwyg') return { html: text };
  if (type === 'markdown') return { html: await renderMarkdown(text) };
  throw fail('INVALID_PAYLOAD', '"type" must be markdown, wysiwyg or template');
}

const messageText = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

/** `mail`, `notification` and `log` (conventions, "Operation types"). */
export function createMessageOperations({ mail, items, runAs, log }: Deps): readonly FlowOperationKind[] {
  return [
    {
      id: 'mail',
      trial: 'run and list',
      // Mail is a job, which exists when the transaction commits.
      isAtomic: () => true,
      async run(options) {
        const to = addressesOf(options.to);
        if (!to) throw fail('INVALID_PAYLOAD', 'the option "to" has no address');
        const { cc, bcc, replyTo, fromName, subject } = options;
        await mail.send({
          to,
          ...(addressesOf(cc) ? { cc: addressesOf(cc) as readonly string[] } : {}),
          ...(addressesOf(bcc) ? { bcc: addressesOf(bcc) as readonly string[] } : {}),
          ...(typeof replyTo === 'string' && replyTo !== '' ? { replyTo } : {}),
          ...(typeof fromName === 'string' && fromName !== '' ? { fromName } : {}),
          subject: textOption(subject, 'subject').replace(/\s+/g, ' '),
          ...(await contentOf(options)),
        });
        return null;
      },
    },
    {
      id: 'notification',
      trial: 'run and list',
      isAtomic: () => true,
      async run(options, { caller }) {
        const recipients = listOption(options.recipient);
        if (recipients.length === 0) return [];
        const { collection, item } = options;
        const rows = recipients.map((recipient) => ({
          recipient,
          sender: caller?.user ?? null,
          subject: textOption(options.subject, 'subject'),
          message: messageText(options.message),
          ...(typeof collection === 'string' && collection !== '' ? { collection } : {}),
          ...(item === undefined || item === null || item === '' ? {} : { item: String(item) }),
        }));
        // Listeners send the mail of a notification.
        const loud = { ...options, emitEvents: true };
        return runAs(loud, caller, (acting) => items.createMany(acting, 'platform_notifications', rows));
      },
    },
    {
      id: 'log',
      async run({ message }, { flow, secrets }) {
        const shown = secrets?.redact(message) ?? null;
        log.info({ flow: flow?.id, step: flow?.step }, messageText(shown) ?? '');
        return null;
      },
    },
  ];
}
