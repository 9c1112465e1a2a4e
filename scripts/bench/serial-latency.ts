import { connect } from 'node:net';
import { ResponseEndDetector } from './response-end.ts';

/** Sends one request after the other on one connection. Resolves with the median response time in milliseconds. */
export function measureSerialLatency(url: URL, request: Buffer, seconds: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const took: number[] = [];
    const answer = new ResponseEndDetector();
    const until = performance.now() + seconds * 1000;
    let sent = 0;
    const send = () => {
      sent = performance.now();
      socket.write(request);
    };
    const socket = connect(Number(url.port), url.hostname, send);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('data', (bytes: Buffer) => {
      if (answer.take(bytes) === 0) return;
      const now = performance.now();
      took.push(now - sent);
      if (now < until) return send();
      socket.end();
      took.sort((a, b) => a - b);
      resolve(took[Math.floor(took.length / 2)] as number);
    });
  });
}
