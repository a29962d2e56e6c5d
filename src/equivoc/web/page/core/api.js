// Requests to the server that this page comes from. A failed request throws a Problem with one sentence.

export class Problem extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

const HEADERS = { "X-Equivoc": "1" };

export const get = (path, options) => ask("GET", path, undefined, options);
export const post = (path, body = {}, options) => ask("POST", path, body, options);
export const put = (path, body) => ask("PUT", path, body);
export const patch = (path, body) => ask("PATCH", path, body);
export const remove = (path) => ask("DELETE", path);

async function ask(method, path, body, { signal } = {}) {
  const headers = method === "GET" ? {} : { ...HEADERS, "Content-Type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal });
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new Problem("The server does not answer.", 0);
  }
  return read(answer.status, await answer.text());
}

function read(status, text) {
  let told = null;
  try {
    told = text ? JSON.parse(text) : null;
  } catch {
    told = null;
  }
  if (status >= 200 && status < 300) return told;
  throw new Problem(told?.error ?? `The server answered with status ${status}.`, status);
}

/** Sends a file as it is. `progress` is called with bytes sent and bytes in all; the result has `done` and `cancel`. */
export function upload(path, file, progress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => progress(event.loaded, event.lengthComputable ? event.total : file.size);
    request.onload = () => {
      try {
        resolve(read(request.status, request.responseText));
      } catch (failure) {
        reject(failure);
      }
    };
    request.onerror = () => reject(new Problem("The upload was cut off: the server does not answer or refused the file.", 0));
    request.onabort = () => reject(new Problem("The upload was cancelled.", -1));
  });
  request.open("POST", path);
  for (const [name, value] of Object.entries(HEADERS)) request.setRequestHeader(name, value);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { done, cancel: () => request.abort() };
}
