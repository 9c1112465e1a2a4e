export type BootPhase =
  | 'discover'
  | 'validate'
  | 'config'
  | 'order'
  | 'register'
  | 'migrate'
  | 'start'
  | 'listen'
  | 'stop';

/** Why the process does not come up: who, when, what, and what to do about it. */
export class BootFailure extends Error {
  readonly plugin: string;
  readonly phase: BootPhase;
  readonly remedy: string | undefined;

  constructor(plugin: string, phase: BootPhase, reason: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(reason, { cause: options.cause });
    this.name = 'BootFailure';
    this.plugin = plugin;
    this.phase = phase;
    this.remedy = options.remedy;
  }

  /** Any error that stops a phase, with the plugin and phase it happened in; a BootFailure keeps its own. */
  static from(plugin: string, phase: BootPhase, error: unknown): BootFailure {
    if (error instanceof BootFailure) return error;
    const reason = error instanceof Error ? ((error as { detail?: string }).detail ?? error.message) : String(error);
    const remedy = (error as { remedy?: string } | null)?.remedy;
    return new BootFailure(plugin, phase, reason, { remedy, cause: error });
  }

  toText(): string {
    return [
      'Tenon could not start.',
      `  plugin:  ${this.plugin}`,
      `  phase:   ${this.phase}`,
      `  reason:  ${this.message.replaceAll('\n', '\n           ')}`,
      ...(this.remedy ? [`  remedy:  ${this.remedy.replaceAll('\n', '\n           ')}`] : []),
    ].join('\n');
  }
}
