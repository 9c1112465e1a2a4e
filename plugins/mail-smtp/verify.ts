import type { SmtpServer } from './settings.ts';
import type { SmtpTimeLimits } from './time-limits.ts';

/** Connects, signs in where the server has a user, and leaves. Rejects with the reason where one of them fails. */
export async function verifySmtpServer(server: SmtpServer, limits: SmtpTimeLimits): Promise<void> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  const { auth, ...options } = server;
  const connection = new SMTPConnection({
    ...options,
    connectionTimeout: limits.connect,
    greetingTimeout: limits.greeting,
    socketTimeout: limits.idle,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${limits.total} ms`)), limits.total);
      connection.once('error', reject);
      connection.once('end', () => reject(new Error('the server closed the connection')));
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      connection.connect((error?: Error) => {
        if (error || !auth) done(error);
        else connection.login({ credentials: auth, ...auth }, done);
      });
    });
  } finally {
    clearTimeout(timer);
    // A connection that is closed meanwhile reports that, too.
    connection.on('error', () => {});
    connection.close();
  }
}
