// The number of objects: exact where counting is quick, otherwise an estimate.
import { server } from './api.js';

/** Of a class with more objects by the database's statistics, the estimate is enough until somebody asks. */
const mostCounted = 1_000_000;
/** The milliseconds that counting may take unasked. */
const patience = 5000;

/** Counts the objects of a query, however long it takes: `{ count, isExact: true }`. */
export async function countAll(className, query = {}, signal) {
  const { count } = await server.find(className, { ...query, limit: '0', count: '1' }, signal);
  return { count: Number(count), isExact: true };
}

/**
 * Counts the objects of a query, unless that takes long: then `count` is an estimate, or `null`.
 * @param estimate How many there are by the database's statistics, if they say.
 */
export async function countSoon(className, query, { estimate = null, signal } = {}) {
  const guess = { count: estimate, isExact: false };
  if (estimate > mostCounted) return guess;
  try {
    return await countAll(className, query, AbortSignal.any([signal, AbortSignal.timeout(patience)].filter(Boolean)));
  } catch (error) {
    if (error.name === 'TimeoutError') return guess;
    throw error;
  }
}
