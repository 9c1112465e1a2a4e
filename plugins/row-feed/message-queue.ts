import type { Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { AnnouncedChange } from './contract.ts';
import { type FeedMessage, isFeedContent, parseFeedMessage, toChange } from './parse-message.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly onChange: (change: AnnouncedChange) => void;
  /** The content of a message is lost. */
  readonly onGap: () => void;
}

/** Bytes that a message and its change take in memory beside their content. */
const BYTES_PER_MESSAGE = 200;
/** Messages whose contents one statement reads: each may have 4 MB. */
const READ_TOGETHER = 16;
/** Messages that wait for the content of an earlier one. */
const MAX_WAITING = 20_000;

/** Undefined for a content that is gone, or that another program has changed. */
function parseContent(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Passes messages on in their order: those behind a message whose content is stored wait until it is read. */
export interface MessageQueue {
  push(payload: unknown): void;
  /** Forgets the waiting messages. */
  clear(): void;
}

export function createMessageQueue({ db, log, onChange, onGap }: Deps): MessageQueue {
  const CONTENTS = db.sql`select id, content from ${db.own('platform_row_feed_messages')} where id = any($1)`;
  let waiting: FeedMessage[] = [];
  let isReading = false;
  /** Counts `clear`, so that a content that is read meanwhile is dropped. */
  let generation = 0;

  /** The stored contents of these messages by their ids; those that are gone are left out. */
  async function readContents(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    try {
      const options = { name: 'platform_row_feed_contents' };
      const { rows } = await db.query<{ id: string; content: string }>(CONTENTS, [ids], options);
      return new Map(rows.map(({ id, content }) => [id, content]));
    } catch (error) {
      log.warn(
        { reason: (error as Error).message },
        'the contents of changed rows could not be read: clients read again',
      );
      return new Map();
    }
  }

  async function drain(): Promise<void> {
    const started = generation;
    isReading = true;
    while (waiting.length > 0) {
      const next = waiting.slice(0, READ_TOGETHER);
      const stored = next.filter(({ content }) => content === undefined).map(({ id }) => id);
      const contents = await readContents(stored);
      if (generation !== started) return;
      waiting.splice(0, next.length);
      for (const message of next) {
        pass(message, contents.get(message.id));
        if (generation !== started) return;
      }
    }
    isReading = false;
  }

  /** `text` is the stored content. */
  function pass(message: FeedMessage, text: string | undefined): void {
    if (message.content !== undefined) {
      onChange(toChange(message, message.content, sizeOf(message)));
      return;
    }
    const content = parseContent(text);
    if (isFeedContent(content)) onChange(toChange(message, content, (text?.length ?? 0) + BYTES_PER_MESSAGE));
    else onGap();
  }

  function clear(): void {
    generation++;
    waiting = [];
    isReading = false;
  }

  return {
    push(payload) {
      const message = parseFeedMessage(payload);
      if (!message) return;
      if (!isReading && message.content !== undefined) {
        pass(message, undefined);
        return;
      }
      if (waiting.length >= MAX_WAITING) {
        clear();
        onGap();
        return;
      }
      waiting.push(message);
      if (!isReading) void drain();
    },
    clear,
  };
}

/** The size of an inline content: it was parsed already, so its text is measured again. */
const sizeOf = ({ content }: FeedMessage): number =>
  content ? JSON.stringify(content).length + BYTES_PER_MESSAGE : BYTES_PER_MESSAGE;
