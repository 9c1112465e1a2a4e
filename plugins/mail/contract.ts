import { authorities, facet, service } from '#kernel';

/** A template and its data. */
export interface MailTemplate {
  /** The name of the file without `.liquid`: letters, digits, `-` and `_`, at most 64. */
  readonly name: string;
  /** The variables of the template, at most 256 kB of JSON. `MailVariables` win over variables of the same name. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * One message. It has exactly one content: `template`, `html`, or `text` alone. An address is `ann@example.com` or
 * `Ann <ann@example.com>`. Texts of headers have no line breaks. At most 100 recipients over `to`, `cc` and `bcc`.
 */
export interface MailMessage {
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly bcc?: string | readonly string[];
  readonly replyTo?: string;
  /** The name beside the address of EMAIL_FROM, in place of the one that EMAIL_FROM has. */
  readonly fromName?: string;
  /** 1 to 500 characters. */
  readonly subject: string;
  readonly template?: MailTemplate;
  /** HTML that the template `base` surrounds, at most 500,000 characters. */
  readonly html?: string;
  /** The text alternative, at most 250,000 characters. Default: made of the HTML. */
  readonly text?: string;
}

/** Sends mail by jobs, after the commit of the open unit of work. */
export interface MailService {
  /**
   * Whether mail can be expected to leave: false where EMAIL_TRANSPORT is unset and the machine has no sendmail program, and until the
   * service has started. For mail that only a configured service sends, such as notifications.
   */
  isConfigured(): boolean;
  /**
   * Adds the job that sends the message, and resolves with its id. Inside a unit of work the message is sent after the commit, and
   * never after a rollback.
   * @throws INVALID_PAYLOAD for a message over a limit, an invalid address, a line break in a header, an unknown template;
   * SERVICE_UNAVAILABLE where the database is not reached.
   */
  send(message: MailMessage): Promise<string>;
}

/** The service that sends mail, for core plugins. Extensions use the capability `mail`. */
export const mail = service<MailService>('mail', { version: '1.0.0', coreOnly: true });

/** An address with the name that is shown for it; an empty name where it has none. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** A complete message, as a transport hands it over. */
export interface OutgoingMail {
  /** The `Message-ID` with its angle brackets, equal in all attempts. */
  readonly messageId: string;
  readonly from: MailAddress;
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly replyTo?: MailAddress;
  /** The addresses that this attempt delivers to. Headers name those of earlier attempts too, and none of `bcc`. */
  readonly recipients: readonly string[];
  readonly subject: string;
  /** Undefined for a message of text alone. */
  readonly html?: string;
  readonly text: string;
}

/** A recipient that the server refused. */
export interface RefusedMailRecipient {
  readonly address: string;
  /** Whether another attempt is useless: a reply of 500 to 599. */
  readonly permanent: boolean;
  /** What the server said, in one line. */
  readonly reason: string;
}

/** The outcome of one attempt. Recipients that are not in `refused` are accepted. */
export interface MailDelivery {
  /** What the server said to the message, in one line; empty where all recipients are refused. */
  readonly response: string;
  readonly refused: readonly RefusedMailRecipient[];
}

/** An opened transport. It has time limits of its own, and opens nothing before the first call. */
export interface MailTransport {
  /**
   * Hands one message over. Aborting `signal` gives up the attempt. Where it rejects, no recipient was accepted as far as it knows.
   * @throws MailDeliveryError (`library.ts`), whose `permanent` says whether another attempt is useless. Other errors are temporary.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<MailDelivery>;
  /** Rejects where no mail can be sent, with a reason in one line. Signs in where sending does. Ends within 5 seconds. */
  verify(): Promise<void>;
  /**
   * Rejects where the server is not reached, without signing in: the health check calls it each time, and `verify` once a minute while
   * that succeeds. Without it a success holds for a minute. Ends within 5 seconds.
   */
  reach?(): Promise<void>;
  /** Releases connections when the service stops. */
  close?(): Promise<void>;
}

/** A kind of transport. Contributed to `mail.transports`. */
export interface MailTransportDeclaration {
  /** The name, as in EMAIL_TRANSPORT. */
  readonly name: string;
  /**
   * Called at the start where EMAIL_TRANSPORT names the transport; loads no library.
   * @throws a BootFailure that names the wrong setting.
   */
  open(): MailTransport;
  /**
   * Whether the machine has what the transport needs although no setting asks for it. Called at the start where EMAIL_TRANSPORT is
   * unset. Default: true.
   */
  isPresent?(): Promise<boolean>;
}

/** Transports by name; the manifest section lists the names. */
export const mailTransports = facet<MailTransportDeclaration, ReadonlyMap<string, MailTransportDeclaration>>(
  'mail.transports',
  {
    combine: (all) => new Map(all.map(({ value }) => [value.name, value])),
    manifest: {
      type: 'object',
      additionalProperties: false,
      required: ['names'],
      properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } },
    },
    validate: ({ name }, declared) => declared.names.includes(name) || `the transport ${name} is not declared`,
    describe: (declared) =>
      authorities(
        'provides',
        declared.names.map((name: string) => `mail transport ${name}`),
      ),
  },
);

/** Variables that all templates have. */
export interface MailVariables {
  /**
   * Reads the current values, for each message anew. `projectUrl`: PUBLIC_URL without a slash at its end; null where it is not
   * absolute.
   */
  read(project: { readonly projectUrl: string | null }): Promise<Readonly<Record<string, unknown>>>;
}

/** Variables of all templates; of two with the same name the one of the later plugin counts. */
export const mailVariables = facet<MailVariables>('mail.variables', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['the variables of all mail templates']),
});

/** A message of a package. */
export interface PackageMailMessage extends Pick<MailMessage, 'to' | 'subject' | 'html' | 'text'> {
  readonly replyTo?: string;
}

/** The object that the capability `mail` binds as `host.mail`. */
export interface MailApi {
  /**
   * `MailService.send` for a package: to recipients of the granted domains, and no more recipients an hour than granted.
   * @throws the errors of `MailService.send`; CAPABILITY_DENIED for another domain; REQUESTS_EXCEEDED over the granted number.
   */
  send(message: PackageMailMessage): Promise<string>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly mail: MailApi;
  }
}
