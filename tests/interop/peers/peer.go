// Drives Go's gomemcache by lines on its standard input; src/peer.rs has the language.

package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

var (
	client *memcache.Client
	list   *memcache.ServerList
)

func unhex(word string) []byte {
	if word == "-" {
		return []byte{}
	}
	data, err := hex.DecodeString(word)
	if err != nil {
		panic(err)
	}
	return data
}

func tohex(data []byte) string {
	if len(data) == 0 {
		return "-"
	}
	return hex.EncodeToString(data)
}

func perform(verb string, words []string) (string, error) {
	switch verb {
	case "version":
		// The package knows no version of its own.
		return "version gomemcache " + os.Getenv("VERSION") + ", " + runtime.Version(), nil
	case "open":
		servers := []string{}
		for _, word := range words {
			address := strings.TrimPrefix(word, "server=")
			servers = append(servers, address[:strings.LastIndex(address, ":")])
		}
		list = new(memcache.ServerList)
		client = memcache.NewFromSelector(list)
		return "ok", list.SetServers(servers...)
	case "set":
		if words[1] != "bytes" && words[1] != "text" {
			return "", fmt.Errorf("gomemcache has no %s", words[1])
		}
		seconds, _ := strconv.Atoi(words[3])
		item := memcache.Item{Key: string(unhex(words[0])), Value: unhex(words[2]), Expiration: int32(seconds)}
		return "ok", client.Set(&item)
	case "get":
		item, err := client.Get(string(unhex(words[0])))
		if err == memcache.ErrCacheMiss {
			return "miss", nil
		}
		if err != nil {
			return "", err
		}
		return "string " + tohex(item.Value), nil
	case "many":
		keys := []string{}
		for _, word := range words {
			keys = append(keys, string(unhex(word)))
		}
		items, err := client.GetMulti(keys)
		answer := "found"
		for key, item := range items {
			answer += " " + tohex([]byte(key)) + " string " + tohex(item.Value)
		}
		return answer, err
	case "incr":
		by, _ := strconv.ParseUint(words[1], 10, 64)
		count, err := client.Increment(string(unhex(words[0])), by)
		if err == memcache.ErrCacheMiss {
			return "miss", nil
		}
		return fmt.Sprintf("count %d", count), err
	case "where":
		server, err := list.PickServer(string(unhex(words[0])))
		return fmt.Sprintf("server %v", server), err
	}
	return "", fmt.Errorf("unknown verb %s", verb)
}

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		answer, err := perform(words[0], words[1:])
		if err != nil {
			answer = "error " + strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Println(answer)
	}
}
