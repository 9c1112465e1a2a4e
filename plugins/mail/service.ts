import type { JobQueue } from '../queue/contract.ts';
import type { MailService } from './contract.ts';
import type { MailJobData } from './mail-job.ts';
import { parseMailMessage } from './parse-message.ts';
import type { ReadTemplate } from './template-files.ts';

interface Deps {
  readonly queue: Pick<JobQueue<MailJobData>, 'add'>;
  readonly isConfigured: () => boolean;
  readonly readTemplate: ReadTemplate;
}

/** Creates the service `mail`. What can be checked at once is checked here, so that the sender of a message learns of it. */
export const createMailService = ({ queue, isConfigured, readTemplate }: Deps): MailService => ({
  isConfigured,
  async send(message) {
    await parseMailMessage(message);
    if (message.template) await readTemplate(message.template.name);
    return (await queue.add({ message })) as string;
  },
});
