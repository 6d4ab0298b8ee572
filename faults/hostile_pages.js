// What a page of another origin may try on Dagster's pages (what: 'pages') or on the API (what: 'api') at `base`.
// Resolves to what each attempt could read, "" for nothing.
async (what, base, read, writes, script) => {
  const url = base + '/graphql', socket = base.replace('http', 'ws') + '/graphql';
  const own = {credentials: 'include', cache: 'no-store'}, json = {'content-type': 'application/json'};
  const within = (promise, ms) => Promise.race([promise, new Promise(done => setTimeout(() => done(''), ms))]);
  const text = async answer => answer.ok ? await answer.text() : '';
  const query = q => url + '?query=' + encodeURIComponent(q);
  const loads = (tag, address, put) => new Promise(done => {
    const e = document.createElement(tag); put(e, address);
    e.onload = () => done(tag + ' loaded'); e.onerror = () => done(''); document.body.append(e); });
  const form = (address, enctype, method, fields) => new Promise(done => {
    const frame = document.createElement('iframe'); frame.name = 'f' + Math.random(); document.body.append(frame);
    const e = document.createElement('form'); Object.assign(e, {action: address, method, enctype, target: frame.name});
    for (const [name, value] of Object.entries(fields)) {
      const field = document.createElement('textarea'); field.name = name; field.value = value; e.append(field); }
    document.body.append(e);
    frame.onload = () => { try { done(frame.contentDocument.body.innerText) } catch (_) { done('') } }; e.submit(); });
  const frame = address => new Promise(done => {
    const e = document.createElement('iframe'); e.src = address; document.body.append(e);
    e.onload = () => setTimeout(() => {
      try { done(e.contentDocument && e.contentDocument.body.innerText) } catch (_) { done('') } }, 300); });
  const talk = q => new Promise(done => {
    const ws = new WebSocket(socket, 'graphql-ws'); ws.onerror = () => done(''); ws.onclose = () => done('');
    ws.onopen = () => { ws.send(JSON.stringify({type: 'connection_init', payload: {}}));
      ws.send(JSON.stringify({id: '1', type: 'start', payload: {query: q, variables: {}}})); };
    ws.onmessage = m => { if (m.data.includes('connection_ack')) done(m.data) }; });
  const xhr = (method, q) => new Promise(done => {
    const x = new XMLHttpRequest(); x.open(method, method === 'GET' ? query(q) : url); x.withCredentials = true;
    x.onload = () => done(x.status === 200 ? x.responseText : ''); x.onerror = () => done('');
    x.setRequestHeader('content-type', 'text/plain'); x.send(method === 'GET' ? null : JSON.stringify({query: q})); });
  const listens = address => new Promise(done => { const s = new EventSource(address, {withCredentials: true});
    s.onmessage = m => done(m.data); s.onerror = () => done(s.close() || ''); });
  const onPages = () => ({
    'fetch a page': () => fetch(base + '/runs', own).then(text),
    'fetch server_info': () => fetch(base + '/server_info', own).then(text),
    'fetch by GET': () => fetch(query(read), own).then(text),
    'fetch by POST': () => fetch(url, {...own, method: 'POST', headers: json, body: JSON.stringify({query: read})}).then(text),
    'XMLHttpRequest by GET': () => xhr('GET', read),
    'script of the pages': () => loads('script', base + script, (e, a) => { e.src = a }),
    'picture of the pages': () => loads('img', base + '/favicon.png?' + Math.random(), (e, a) => { e.src = a }),
    'style of the pages': () => loads('link', base + '/vendor/graphiql/graphiql.min.css', (e, a) => { e.rel = 'stylesheet'; e.href = a }),
    'frame of the pages': () => frame(base + '/runs'),
    'frame of the console': () => frame(base + '/graphql'),
    'EventSource': () => listens(query(read)),
    'WebSocket': () => talk(read),
    'report of a materialisation': () => fetch(base + '/report_asset_materialization/messages?description=hostile',
      {...own, mode: 'no-cors', method: 'POST'}).then(text),
  });
  const mutating = (name, q) => ({
    [name + ' by GET']: () => fetch(query(q), {...own, mode: 'no-cors'}).then(text),
    [name + ' by picture']: () => loads('img', query(q), (e, a) => { e.src = a }),
    [name + ' by script']: () => loads('script', query(q), (e, a) => { e.src = a }),
    [name + ' by frame']: () => frame(query(q)),
    [name + ' by POST of text']: () => fetch(url, {...own, mode: 'no-cors', method: 'POST', body: JSON.stringify({query: q})}).then(text),
    [name + ' by POST of JSON']: () => fetch(url, {...own, method: 'POST', headers: json, body: JSON.stringify({query: q})}).then(text),
    [name + ' by POST of GraphQL']: () => fetch(url, {...own, mode: 'no-cors', method: 'POST', body: q}).then(text),
    [name + ' by PUT']: () => fetch(query(q), {...own, method: 'PUT'}).then(text),
    [name + ' by form']: () => form(query(q), 'application/x-www-form-urlencoded', 'post', {query: q}),
    [name + ' by form of text']: () => form(query(q), 'text/plain', 'post', {'{"query":': JSON.stringify(q) + '}'}),
    [name + ' by form with parts']: () => form(query(q), 'multipart/form-data', 'post', {query: q}),
    [name + ' by form that reads']: () => form(url, 'application/x-www-form-urlencoded', 'get', {query: q}),
    [name + ' by beacon']: async () => { navigator.sendBeacon(query(q), JSON.stringify({query: q})); return '' },
    [name + ' by keepalive']: () => fetch(query(q), {...own, mode: 'no-cors', method: 'POST', keepalive: true}).then(text),
    [name + ' by XMLHttpRequest']: () => xhr('POST', q),
    [name + ' by WebSocket']: () => talk(q),
  });
  const reading = path => ({
    ['fetch ' + path]: () => fetch(base + path, own).then(text),
    ['fetch unread ' + path]: () => fetch(base + path, {...own, mode: 'no-cors'}).then(text),
    ['fetch with a token ' + path]: () => fetch(base + path, {...own, headers: {authorization: 'Bearer x'}}).then(text),
    ['script ' + path]: () => loads('script', base + path, (e, a) => { e.src = a }),
    ['frame ' + path]: () => frame(base + path),
    ['EventSource ' + path]: () => listens(base + path),
  });
  const appended = base + '/v1/sessions/agent%3Ahostile/messages';
  const message = JSON.stringify({messages: [{id: '1', role: 'user', content: 'hostile'}]});
  const onApi = () => Object.assign({
    'append as text': () => fetch(appended, {...own, mode: 'no-cors', method: 'POST', body: message}).then(text),
    'append as JSON': () => fetch(appended, {...own, method: 'POST', headers: json, body: message}).then(text),
    'append by beacon': async () => { navigator.sendBeacon(appended, message); return '' },
    'append by form': () => form(appended, 'text/plain', 'post', {[message.slice(0, -1) + ',"a":"']: '"}'}),
    'delete': () => fetch(base + '/v1/sessions/agent%3Ahostile', {...own, method: 'DELETE'}).then(text),
  }, ...read.map(reading));
  const tries = what === 'api' ? onApi()
    : Object.assign(onPages(), ...Object.entries(writes).map(([name, q]) => mutating(name, q)));
  const found = await Promise.all(Object.entries(tries).map(async ([name, attempt]) => {
    try { return [name, String(await within(attempt(), 8000) || '').slice(0, 200)] } catch (_) { return [name, ''] } }));
  return Object.fromEntries(found);
}
