// The server's own figures, as small charts of the last minutes.
import { server } from './api.js';
import { fill, h, svg } from './dom.js';
import { number, t } from './language.js';

const kept = 150;
const samples = [];

/** Reads Prometheus's text: sums by name, whatever the labels. */
function sums(text) {
  const all = new Map();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name) all.set(name, (all.get(name) ?? 0) + Number(value));
  }
  return all;
}

/** Each tells a number of two samples: the last, and the one before. */
const figures = {
  requests: ({ at, all }, before) => rate('relata_requests_total', at, all, before),
  duration(sample, before) {
    const count = difference('relata_request_duration_seconds_count', sample.all, before.all);
    return count > 0 ? difference('relata_request_duration_seconds_sum', sample.all, before.all) / count * 1000 : 0;
  },
  running: ({ all }) => all.get('relata_requests_running') ?? 0,
  connections: ({ all }) => all.get('relata_connections') ?? 0,
  sent: ({ at, all }, before) => rate('relata_sent_bytes_total', at, all, before) / 1024,
  memory: ({ all }) => (all.get('process_resident_memory_bytes') ?? 0) / 1048576,
};

function difference(name, now, before) { return Math.max(0, (now.get(name) ?? 0) - (before.get(name) ?? 0)); }

function rate(name, at, all, before) { return difference(name, all, before.all) / Math.max(0.001, (at - before.at) / 1000); }

/** Takes a sample, and shows all. */
export async function drawCharts(element) {
  samples.push({ at: performance.now(), all: sums(await server.metrics()) });
  if (samples.length > kept) samples.shift();
  const pairs = samples.slice(1).map((sample, place) => [sample, samples[place]]);
  fill(element, Object.entries(figures).map(([name, figure]) => chart(t(`chart.${name}`), pairs.map(([sample, before]) => figure(sample, before)))));
}

function chart(title, values) {
  const [width, height] = [240, 48];
  const top = Math.max(1e-9, ...values);
  const points = values.map((value, place) => `${(width - (values.length - 1 - place) * width / (kept - 2)).toFixed(1)},${(height - 2 - value / top * (height - 6)).toFixed(1)}`);
  const last = values.at(-1);
  const text = last === undefined ? '…' : number(Number(last.toPrecision(3)));
  return h('figure', { class: 'chart' }, h('figcaption', h('span', title), h('strong', text)),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: ${text}` },
      svg('polyline', { points: points.join(' '), class: 'chart-line' })));
}
