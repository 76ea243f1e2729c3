package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// TokenVariable names the environment variable that holds the bearer token.
const TokenVariable = "REBENCH_TOKEN"

// maxAnswer bounds what is read of a server's answer.
const maxAnswer = 256 << 10

// Client speaks to one server. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// New returns a client of the server at address (http or https, with an
// optional path prefix) that authenticates with token.
func New(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "server %q is not a URL: %w", address, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, rebench.Errorf(rebench.CodeInvalid, "server %q: expected http://HOST[:PORT] or https://HOST[:PORT], without user, query or fragment", address)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, rebench.Errorf(rebench.CodeInvalid, "the token holds characters that no HTTP header can carry")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	transport.MaxIdleConnsPerHost = 8
	return &Client{base: u, token: token, http: &http.Client{
		Transport: transport,
		Timeout:   60 * time.Second,
		// A redirect could send the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Server is the address the client was made with.
func (c *Client) Server() string { return c.base.String() }

// SendsTokenInClear says whether the token crosses a network unencrypted.
func (c *Client) SendsTokenInClear() bool {
	if c.token == "" || c.base.Scheme == "https" {
		return false
	}
	host := c.base.Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// StatusError is an answer of the server that is not a success.
type StatusError struct {
	Status     int
	Code       string        // problem+json `code`, e.g. gap, fork; "" when absent
	Detail     string        // problem+json `detail` or `title`
	Expected   *int64        // with code gap: the seq that the server wants next
	RetryAfter time.Duration // 0 when the server did not say
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("server answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Code != "" {
		s += " (" + e.Code + ")"
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Temporary says whether the same request may succeed later.
func (e *StatusError) Temporary() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

// Head returns the highest seq of the attempt that the server has acknowledged,
// -1 when it has none.
func (c *Client) Head(ctx context.Context, attemptID string) (int64, error) {
	var out struct {
		Acknowledged *int64 `json:"acknowledged"`
	}
	if err := c.do(ctx, http.MethodGet, c.eventsPath(attemptID)+"/head", "", nil, &out); err != nil {
		return 0, err
	}
	if out.Acknowledged == nil || *out.Acknowledged < -1 {
		return 0, rebench.Errorf(rebench.CodeInternal, "server's answer has no usable `acknowledged`")
	}
	return *out.Acknowledged, nil
}

// PostEvents sends whole log lines, each with its LF, and returns the highest
// contiguous seq that the server now holds.
func (c *Client) PostEvents(ctx context.Context, attemptID string, lines []byte) (int64, error) {
	var out struct {
		AttemptID    string `json:"attempt_id"`
		Acknowledged *int64 `json:"acknowledged"`
	}
	if err := c.do(ctx, http.MethodPost, c.eventsPath(attemptID), attemptlog.MediaType, lines, &out); err != nil {
		return 0, err
	}
	if out.Acknowledged == nil || *out.Acknowledged < -1 {
		return 0, rebench.Errorf(rebench.CodeInternal, "server's answer has no usable `acknowledged`")
	}
	return *out.Acknowledged, nil
}

func (c *Client) eventsPath(attemptID string) string {
	return "/api/v1/attempts/" + url.PathEscape(attemptID) + "/events"
}

// do sends one request and decodes a successful JSON answer into out, when out is not nil.
func (c *Client) do(ctx context.Context, method, path, mediaType string, body []byte, out any) error {
	_, err := c.doStatus(ctx, method, path, mediaType, body, out)
	return err
}

func (c *Client) doStatus(ctx context.Context, method, path, mediaType string, body []byte, out any) (int, error) {
	target := strings.TrimSuffix(c.base.String(), "/") + path
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return 0, rebench.Errorf(rebench.CodeInternal, "%s %s: %w", method, path, err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err // a *url.Error names method and address
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return resp.StatusCode, fmt.Errorf("%s %s: reading the answer: %w", method, path, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, statusError(resp, answer)
	}
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return resp.StatusCode, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return resp.StatusCode, fmt.Errorf("%s %s: the answer is not the JSON expected: %w", method, path, err)
	}
	return resp.StatusCode, nil
}

func statusError(resp *http.Response, body []byte) *StatusError {
	e := &StatusError{Status: resp.StatusCode}
	var problem struct {
		Code     string `json:"code"`
		Title    string `json:"title"`
		Detail   string `json:"detail"`
		Expected *int64 `json:"expected"`
	}
	if json.Unmarshal(body, &problem) == nil {
		e.Code, e.Detail, e.Expected = problem.Code, problem.Detail, problem.Expected
		if e.Detail == "" {
			e.Detail = problem.Title
		}
	}
	if s := resp.Header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(s); err == nil && n >= 0 {
			e.RetryAfter = time.Duration(min(n, 3600)) * time.Second
		} else if at, err := http.ParseTime(s); err == nil {
			e.RetryAfter = min(max(0, time.Until(at)), time.Hour)
		}
	}
	return e
}

// Retryable says whether err may go away by waiting: the network, a server that
// is restarting or busy. A refusal (bad token, fork, malformed) is not.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var status *StatusError
	if errors.As(err, &status) {
		return status.Temporary()
	}
	// What is no answer of the API at all: connection trouble, or a proxy's
	// page while the server restarts.
	return true
}
