import { type ContributionTo, capabilities, commands, definePlugin } from '#kernel';
import { remoteMethods } from '../broker/contract.ts';
import { lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { JobQueue } from '../queue/contract.ts';
import type { health } from '../server/contract.ts';
import { templates } from '../templates/contract.ts';
import { createAcceptancesMigration, createMailAcceptances } from './acceptances.ts';
import { createMailCapability, mailRemoteMethods } from './capability/capability.ts';
import { DEFAULT_TRANSPORT, type MailConfig, parseSender, type SharedConfig } from './config.ts';
import { mail, mailTransports, mailVariables } from './contract.ts';
import { createMailDelivery } from './deliver.ts';
import { createMailDoctorCheck } from './doctor-check.ts';
import { MAIL_QUEUE } from './limits.ts';
import { createLogTransport } from './log-transport.ts';
import type { MailJobData } from './mail-job.ts';
import manifest from './package.json' with { type: 'json' };
import { createMailContentRenderer } from './render-message.ts';
import { createSelectedTransport } from './selected-transport.ts';
import { createSendWindows, createSendWindowsMigration } from './send-windows.ts';
import { createMailService } from './service.ts';
import { mailServiceClass } from './service-class.ts';
import { createTemplateReader } from './template-files.ts';
import { createVariablesReader } from './template-variables.ts';
import { createMailTestCommand } from './test-command.ts';
import { createMailHealthCheck, createTransportVerifier, verifySetupAfterStart } from './verify.ts';
import { createTurnWaiting } from './wait-for-turn.ts';

export default definePlugin<MailConfig, SharedConfig>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ lock, templates });
    host.define(mailTransports);
    host.define(mailVariables);
    host.contribute(mailTransports, createLogTransport(log));
    host.contribute(migrations, createAcceptancesMigration(db));
    host.contribute(migrations, createSendWindowsMigration(db));

    const from = parseSender(config.EMAIL_FROM);
    const name = config.EMAIL_TRANSPORT;
    const selected = createSelectedTransport(name);
    const windows = createSendWindows(db);
    const readTemplate = createTemplateReader(config.EMAIL_TEMPLATES_PATH);
    const readVariables = createVariablesReader(config.PUBLIC_URL, () => host.read(mailVariables));
    const parts = {
      from,
      transport: selected.current,
      render: createMailContentRenderer({ templates: used.templates, readTemplate, readVariables }),
    };
    const queue: JobQueue<MailJobData> = host.queue.define({
      ...MAIL_QUEUE,
      log,
      run: createMailDelivery({
        ...parts,
        events,
        lock: used.lock,
        acceptances: createMailAcceptances(db),
        systemCaller: () => host.asSystem('it asks listeners about mail before it is sent'),
        waitForTurn: createTurnWaiting({ config, db, windows, queue: () => queue }),
      }),
    });
    const service = createMailService({ queue, readTemplate, isConfigured: selected.isConfigured });
    host.provide(mail, service);
    host.contribute(capabilities, createMailCapability({ mail: service, windows }));
    host.contribute(remoteMethods, mailRemoteMethods);
    host.contribute<ServiceClass>('extensions.services', mailServiceClass(service));
    host.contribute(commands, createMailTestCommand({ ...parts, name: name ?? DEFAULT_TRANSPORT }));

    const verify = createTransportVerifier(selected.current);
    const openTransport = () => selected.open(host.read(mailTransports));
    host.contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createMailDoctorCheck({ name, open: openTransport, transport: selected, verify }),
    );
    if (config.EMAIL_VERIFY_SETUP) verifySetupAfterStart({ name, transport: selected, verify, events, log });
    const contributeCheck = () =>
      void host.contribute<ContributionTo<typeof health>>('health', createMailHealthCheck(verify));
    // A service without settings of mail is healthy without it.
    if (name !== undefined) contributeCheck();
    host.onStart(async () => {
      await openTransport();
      if (name === undefined && selected.isConfigured()) contributeCheck();
    });
    host.onStop(selected.close);
    host.onStop(queue.stop);
  },
});
