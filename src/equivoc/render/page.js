// Draws each chart from the description beside it. "ast" evaluates expressions without eval, which the policy forbids.
(function () {
  "use strict";
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true };
  const drawn = Array.from(document.querySelectorAll("script[data-chart]"), (description) =>
    window.vegaEmbed(
      document.getElementById("chart-" + description.dataset.chart),
      JSON.parse(description.textContent),
      options
    )
  );
  Promise.all(drawn).then(() => document.documentElement.setAttribute("data-drawn", String(drawn.length)));
})();
